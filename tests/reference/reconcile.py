"""Reconcile rules (section 4): who is skipped, who is blocked, and what the rules of the others do."""

import dataclasses

import dnsnames
import exports
import protection
import subjects


@dataclasses.dataclass(frozen=True)
class Action:
    """What one rule does to one RRset. Many actions make one change."""

    zone: str
    name: str
    type: str
    op: str  # add | remove | ttl
    value: object  # rdata, or the wanted TTL
    rule: str
    subject: str  # whose rule it is
    project: str
    is_hosts_own: bool  # rules 1 to 8 of a host; not rule 9, not sync


@dataclasses.dataclass
class Scope:
    """What --host and --project name; None where they are not given."""

    hosts: set | None
    projects: set | None

    def covers(self, inv, project):
        return (self.hosts is None or inv in self.hosts) and (self.projects is None or project in self.projects)

    def names_host(self, inv):
        return self.hosts is not None and inv in self.hosts


class Reconciler:
    """Applies section 4 to a fleet."""

    def __init__(self, fleet, registry, scope):
        self.fleet = fleet
        self.live = fleet.live
        self.config = fleet.config
        self.registry = registry
        self.scope = scope
        self.actions = []
        self.notices = set()  # (code, name, host)
        self.protection = protection.Protection(self.config.zones, self.live)
        self.had_names = fleet.names_had_or_have()
        self.current_names = fleet.current_names()
        self.skipped = {}
        self.blocked = {}
        self.policies = {}
        for inv, host in fleet.assigned.items():
            self._judge(inv, host)
        self.frozen = self._frozen_names()
        for inv in sorted(fleet.assigned):
            if inv not in self.skipped and inv not in self.blocked:
                self._run_host_rules(inv)
        if not self._must_rest():
            self._run_rule_9()
            self._run_sync()

    # Skipped and blocked

    def _judge(self, inv, host):
        """Decide what needs no look at the rules' effects: skip codes, block codes up to `cname`, the policy."""
        code, policy = self._skip_code_and_policy(inv, host)
        if code is not None:
            self.skipped[inv] = code
            return
        self.policies[inv] = policy
        code = self._early_block_code(inv)
        if code is not None:
            self.blocked[inv] = code

    def _skip_code_and_policy(self, inv, host):
        """(skip code, None), or (None, the policy under which the host is planned)."""
        project = self.fleet.projects.get(host.project)
        policy = project.policy if project else None
        if not host.columns_known:
            return None, policy  # nothing of its row can be relied on: it will be bad-input
        admin = self.config.projects.get(host.project)
        if admin is None or not admin.allowed:
            return "automation-off", None
        if self.scope.names_host(inv):
            return None, policy
        if project is not None and not project.automation:
            if not self._is_first_publication(inv):
                return "automation-off", None
            policy = "create-only"
        if "automated-dns" in host.restrictions:
            return "restricted", None
        return None, policy

    def _is_first_publication(self, inv):
        """A current row in names.lock, and no AAAA at the backbone name."""
        has_row = "names.lock" not in self.fleet.inventory.unknown and any(
            row.inv == inv and row.released is None and row.name and not row.bad
            for row in self.fleet.inventory.lock
        )
        name = self.fleet.derived[inv].name
        if not has_row or name is None or self.live.is_in_unknown_zone(name):
            return False
        return self.live.get(name, "AAAA") is None

    def _early_block_code(self, inv):
        """The first code, in the order of section 4, of those up to `cname`."""
        derived = self.fleet.derived[inv]
        for code in (
            "bad-input",
            "source-untrusted",
            "no-name",
            "foreign-domain",
            "duplicate-name",
            "no-mac",
            "duplicate-mac",
            "no-network",
            "no-ipv4-network",
            "address-collision",
        ):
            if code in derived.codes:
                return code
        names = self._places(inv)
        if any(self.live.zone_of(name) is None for name in names):
            return "no-zone"
        if any(self.live.is_in_unknown_zone(name) for name in names):
            return "zone-unknown"
        if any(self.live.is_delegated(name) for name in names):
            return "delegated"
        if any(self.live.is_aliased(name) for name in names):
            return "cname"
        return None

    def _places(self, inv):
        """The names of a host's interfaces, and the reverse names of the addresses that these keep or get."""
        names = []
        for interface in self.fleet.derived[inv].interfaces:
            names.append(interface.name)
            if not interface.is_read:
                continue  # which addresses it keeps is not known
            kept = self.keeps_or_gets(interface, self.policies[inv])
            names += [dnsnames.reverse_name(address) for address in kept]
        return names

    def _frozen_names(self):
        """Rule 10: name -> the hosts whose records at it, and whose PTR to it, are never touched."""
        frozen = {}
        for inv, derived in self.fleet.derived.items():
            if (
                inv in self.skipped
                or self.blocked.get(inv) in ("bad-input", "source-untrusted", "zone-unknown")
                or any(self.live.is_in_unknown_zone(name) for name in derived.names)
            ):
                for name in derived.names:
                    frozen.setdefault(name, set()).add(inv)
        return frozen

    # The rules of one host

    def keeps_or_gets(self, interface, policy):
        """The addresses that O keeps or gets (section 3, end; rule 8 on create-only)."""
        live_texts = self.live.rdata(interface.name, "AAAA")
        kept = [address for address in interface.acceptable if str(address) in live_texts]
        if kept:
            return kept
        if policy == "create-only" and live_texts:
            return []
        return interface.acceptable[:1]

    def _run_host_rules(self, inv):
        """Rules 1 to 8 of one host; its actions count where nothing blocks it."""
        host = self.fleet.assigned[inv]
        actions = []
        notices = set()
        is_not_owner = False
        for interface in self.fleet.derived[inv].interfaces:
            rules = _InterfaceRules(self, host, interface, self.policies[inv])
            actions += rules.permitted_actions()
            notices |= rules.notices
            is_not_owner = is_not_owner or rules.is_not_owner()
        is_protected = any(self.protection.covers(name) for name in self._places(inv))
        if not is_protected:
            actions, left = self._left_at_protected_names(actions)
            notices |= left
        if any(self._removes_frozen(action) for action in actions):
            self.blocked[inv] = "conflict"
        elif is_not_owner:
            self.blocked[inv] = "not-owner"
        elif is_protected:
            self.blocked[inv] = "protected"
        elif self.scope.covers(inv, host.project):
            self.actions += actions
            self.notices |= notices

    def _left_at_protected_names(self, actions):
        """Section 9: the actions elsewhere, and notices of what is left at protected names."""
        left = [action for action in actions if self.protection.covers(action.name)]
        others = [action for action in actions if not self.protection.covers(action.name)]
        return others, {("protected", action.name, subjects.host(action.subject)) for action in left}

    def _removes_frozen(self, action):
        if action.op != "remove":
            return False
        name = action.value if action.type == "PTR" else action.name
        return bool(self.frozen.get(name, set()) - {subjects.host(action.subject)})

    def may_change(self, rrset):
        """Rule 7: whether a live RRset may be changed or removed."""
        is_open = self.config.zones[rrset.zone].permission == "full"
        return is_open or self.registry.is_own(rrset.name, rrset.type)

    # Rule 9 and sync

    def _must_rest(self):
        inventory = self.fleet.inventory
        bad_lock = any(row.bad for row in inventory.lock)
        return inventory.bad_host_rows > 0 or bad_lock or bool(inventory.unknown)

    def is_untouchable(self, name):
        """An apex, a wildcard, an NS or MX target, or what may be an unknown fastbone name."""
        clouded = name.split(".", 1)[1] in self.fleet.clouded_domains() and name not in self.had_names
        return self.live.is_untouchable(name) or (clouded and name not in self.current_names)

    def _run_rule_9(self):
        for row in self.fleet.inventory.lock:
            if row.name is None or not self._rule_9_applies(row):
                continue
            for name in self.fleet.with_fastbone(row.name, row.project):
                if name in self.current_names or self.is_untouchable(name):
                    continue
                rrsets = [self.live.get(name, "AAAA"), *(rrset for _, rrset in self.live.address_ptrs())]
                for rrset in rrsets:
                    if rrset is not None and self.may_change(rrset):
                        self._remove_records_of(name, rrset, "released", subjects.of_released(row.inv), row.project)

    def _rule_9_applies(self, row):
        """Everything but the names themselves."""
        admin = self.config.projects.get(row.project)
        project = self.fleet.projects.get(row.project)
        host = self.fleet.inventory.hosts.get(row.inv)
        is_restricted = host is not None and "automated-dns" in host.restrictions
        return (
            exports.is_recently_released(row, self.config, self.fleet.now)
            and self.scope.covers(row.inv, row.project)
            and admin is not None
            and admin.allowed
            and project is not None
            and project.policy not in ("create-only", "upsert-only")
            and (not is_restricted or self.scope.names_host(row.inv))
        )

    def _run_sync(self):
        if self.scope.hosts is not None:
            return
        for project in self.fleet.projects.values():
            admin = self.config.projects.get(project.id)
            is_on = admin is not None and admin.allowed and project.automation
            if project.policy == "sync" and is_on and self.scope.covers(None, project.id):
                self._sync(project.id)

    def _sync(self, project_id):
        domains = {admin.dns_domain: name for name, admin in self.config.projects.items()}
        for rrset in self.live.of_type("AAAA"):
            name = rrset.name
            domain = dnsnames.longest_suffix(name, domains)
            if (
                domain is None
                or domains[domain] != project_id
                or name in self.current_names
                or self.is_untouchable(name)
                or not self.registry.is_own(name, "AAAA")
            ):
                continue
            orphan = subjects.of_orphan(self.config.zones[rrset.zone].pool, name)
            self._remove_records_of(name, rrset, "orphan", orphan, project_id)
            for _, ptr in self.live.address_ptrs():
                if self.registry.is_own(ptr.name, "PTR"):
                    self._remove_records_of(name, ptr, "orphan", orphan, project_id)

    def _remove_records_of(self, name, rrset, rule, subject, project_id):
        """Remove all of an AAAA RRset at the name, or the PTR record that names it."""
        values = sorted(rrset.rdata) if rrset.type == "AAAA" else sorted(rrset.rdata & {name})
        actions = [
            Action(rrset.zone, rrset.name, rrset.type, "remove", value, rule, subject, project_id, False)
            for value in values
        ]
        if self.protection.covers(name) or self.protection.covers(rrset.name):
            # Neither a protected name nor what points to it is cleared away.
            self.notices |= {("protected", action.name, None) for action in actions}
        else:
            self.actions += actions


class _InterfaceRules:
    """Rules 1 to 8 for one interface (O, A)."""

    def __init__(self, reconciler, host, interface, policy):
        self.reconciler = reconciler
        self.live = reconciler.live
        self.host = host
        self.owner_name = interface.name
        self.acceptable = [str(address) for address in interface.acceptable]
        self.policy = policy
        kept = reconciler.keeps_or_gets(interface, policy)
        self.kept = {str(address) for address in kept}
        self.kept_ptr_names = [dnsnames.reverse_name(address) for address in kept]
        self.own_a_ptr_names = [
            name for name in map(dnsnames.reverse_name, interface.own_a) if self._own_a_ptr_is_writable(name)
        ]
        self.acceptable_ptr_names = [dnsnames.reverse_name(address) for address in interface.acceptable]
        self.all_own_a_ptr_names = [dnsnames.reverse_name(address) for address in interface.own_a]
        self.notices = set()
        self._actions = []

    def _own_a_ptr_is_writable(self, name):
        """Rule 10, and the registry's word on own A addresses; whether it is own is rule 7's."""
        live = self.live
        if live.zone_of(name) is None or live.is_in_unknown_zone(name):
            return False
        if live.is_delegated(name) or live.is_aliased(name):
            return False
        return live.get(name, "PTR") is not None or not self.reconciler.registry.has_foreign_mark(name, "PTR")

    def permitted_actions(self):
        """What the rules do, as far as policy (rule 8) and permission (rule 7) let them."""
        self._actions = []
        self._rules_1_2_4()
        self._rule_3()
        self._rule_5()
        self._rule_6()
        return [action for action in self._actions if self._policy_lets(action) and self._permission_lets(action)]

    def _act(self, name, rtype, op, value, rule):
        zone = self.live.zone_of(name)
        host = self.host
        self._actions.append(Action(zone, name, rtype, op, value, rule, subjects.of_host(host.inv), host.project, True))

    def _rules_1_2_4(self):
        live_texts = self.live.rdata(self.owner_name, "AAAA")
        for text in live_texts - set(self.acceptable):
            self._act(self.owner_name, "AAAA", "remove", text, "wrong-address")
        for text in self.kept - live_texts:
            self._act(self.owner_name, "AAAA", "add", text, "missing")

    def _rule_3(self):
        for rrset in self.live.of_type("AAAA"):
            found = rrset.rdata & set(self.acceptable)
            if rrset.name == self.owner_name or not found:
                continue
            is_claimed = (
                self.reconciler.registry.is_own(rrset.name, "AAAA")
                or rrset.name in self.reconciler.had_names
                or self.reconciler.config.zones[rrset.zone].claim_all
            )
            if not is_claimed or self.reconciler.is_untouchable(rrset.name):
                self.notices.add(("foreign-name", rrset.name, self.host.inv))
                continue
            for text in found:
                self._act(rrset.name, "AAAA", "remove", text, "address-elsewhere")

    def _rule_5(self):
        for _, rrset in self.live.address_ptrs():
            if rrset.name in self.acceptable_ptr_names:
                rule = "wrong-ptr"
                wrong = set(rrset.rdata)
                if rrset.name in self.kept_ptr_names:
                    wrong.discard(self.owner_name)
            elif rrset.name in self.all_own_a_ptr_names:
                rule = "wrong-ptr"
                is_writable = rrset.name in self.own_a_ptr_names
                wrong = rrset.rdata - {self.owner_name} if is_writable else set()
            else:
                rule = "ptr-elsewhere"
                wrong = rrset.rdata & {self.owner_name}
            for target in wrong:
                self._act(rrset.name, "PTR", "remove", target, rule)
        for name in self.kept_ptr_names + self.own_a_ptr_names:
            if self.owner_name not in self.live.rdata(name, "PTR"):
                self._act(name, "PTR", "add", self.owner_name, "missing-ptr")

    def _home_rrsets(self):
        """The AAAA RRset at O, and the PTR RRsets at the addresses that O keeps or gets and at own A addresses."""
        ptr_names = self.kept_ptr_names + self.own_a_ptr_names
        return [(self.owner_name, "AAAA"), *((name, "PTR") for name in ptr_names)]

    def _rule_6(self):
        project = self.reconciler.fleet.projects[self.host.project]
        for name, rtype in self._home_rrsets():
            zone = self.reconciler.config.zones[self.live.zone_of(name)]
            wanted = project.ttl if project.ttl is not None else zone.ttl
            rrset = self.live.get(name, rtype)
            if rrset is None or rrset.ttl != wanted:
                self._act(name, rtype, "ttl", wanted, "ttl")

    def _policy_lets(self, action):
        if self.policy == "create-only":
            return action.op != "remove" and self.live.get(action.name, action.type) is None
        if self.policy == "upsert-only":
            return (action.name, action.type) in self._home_rrsets()
        return True

    def _permission_lets(self, action):
        rrset = self.live.get(action.name, action.type)
        return rrset is None or self.reconciler.may_change(rrset)

    def is_not_owner(self):
        """Rule 7, and a foreign heritage TXT where an RRset would be created."""
        wanted = [(self.owner_name, "AAAA", set(self.acceptable))]
        wanted += [(name, "PTR", {self.owner_name}) for name in self.kept_ptr_names]
        for name, rtype, right in wanted:
            rrset = self.live.get(name, rtype)
            if rrset is None and self.reconciler.registry.has_foreign_mark(name, rtype):
                return True
            if rrset is None or self.policy == "create-only":
                continue
            if rrset.rdata - right and not self.reconciler.may_change(rrset):
                return True
        return False
