var REG_NONE = NewRegistrar("none");
var DSP = NewDnsProvider("server");

D("example.net", REG_NONE, DnsProvider(DSP), DefaultTTL(3600),
    MX("@", 10, "mail"),
    SPF_BUILDER({ label: "@", parts: ["v=spf1", "mx", "-all"] }),
    CAA("@", "issue", "ca.example.org"),
    A("ns1", "192.0.2.53"),
    A("mail", "192.0.2.20"),
    A("www", "192.0.2.10", TTL(300)),
    A("www", "192.0.2.11", TTL(300)),
    AAAA("www", "2001:db8::10", TTL(300)),
    CNAME("blog", "www", TTL(300)),
    A("old", "192.0.2.99", TTL(300)),
    SRV("_sip._tcp", 0, 5, 5060, "mail"),
);
