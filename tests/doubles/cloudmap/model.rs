//! What requests may hold: the part of the service's published model that the double has, member by member.

use serde_json::{Value, json};

use super::patterns::ModelPattern;

/// A shape of the model.
pub enum ModelShape {
    /// A text with a length in characters and a pattern.
    Text(usize, usize, Option<ModelPattern>),
    /// One of several words.
    Word(&'static [&'static str]),
    /// A whole number with its bounds.
    Number(i64, i64),
    /// A list of a shape, with the fewest and the most items.
    List(&'static ModelShape, usize, usize),
    /// A map with the shapes of keys and of values.
    Map(&'static ModelShape, &'static ModelShape),
    /// Named members.
    Structure(&'static [ModelMember]),
}

/// A member of a structure.
pub struct ModelMember {
    /// Its name.
    pub name: &'static str,
    /// Its shape.
    pub shape: &'static ModelShape,
    /// Whether it must be there.
    pub is_required: bool,
}

/// No bound.
const ANY: usize = usize::MAX;

/// An identifier that the service or a client gave.
const RESOURCE_ID: ModelShape = ModelShape::Text(0, 64, None);

/// An identifier, or an ARN.
const ARN: ModelShape = ModelShape::Text(0, 255, None);

/// The identifier of an instance.
const INSTANCE_ID: ModelShape = ModelShape::Text(0, 64, Some(ModelPattern::InstanceId));

/// The ARN of what has tags.
const RESOURCE_NAME: ModelShape = ModelShape::Text(1, 1011, None);

/// A description.
const DESCRIPTION: ModelShape = ModelShape::Text(0, 1024, None);

/// Where a page begins.
const NEXT_TOKEN: ModelShape = ModelShape::Text(0, 4096, None);

/// How many items a page has.
const MAX_RESULTS: ModelShape = ModelShape::Number(1, 100);

/// A TTL in seconds.
const RECORD_TTL: ModelShape = ModelShape::Number(0, 2_147_483_647);

/// The condition of a filter.
const CONDITION: ModelShape = ModelShape::Word(&["EQ", "IN", "BETWEEN", "BEGINS_WITH"]);

/// The values of a filter.
const FILTER_VALUES: ModelShape = ModelShape::List(&ModelShape::Text(1, 255, None), 0, ANY);

/// What an instance has.
const ATTRIBUTES: ModelShape = ModelShape::Map(
    &ModelShape::Text(0, 255, Some(ModelPattern::AttributeKey)),
    &ModelShape::Text(0, 1024, Some(ModelPattern::AttributeValue)),
);

/// The key of a tag.
const TAG_KEY: ModelShape = ModelShape::Text(1, 128, None);

/// Tags.
const TAGS: ModelShape = ModelShape::List(
    &ModelShape::Structure(&[required("Key", &TAG_KEY), required("Value", &ModelShape::Text(0, 256, None))]),
    0,
    200,
);

/// The SOA of the zone of a namespace.
const SOA: ModelShape = ModelShape::Structure(&[required("TTL", &RECORD_TTL)]);

/// What can be set of a namespace.
const NAMESPACE_PROPERTIES: ModelShape =
    ModelShape::Structure(&[required("DnsProperties", &ModelShape::Structure(&[required("SOA", &SOA)]))]);

/// The RRs of a service.
const DNS_RECORDS: ModelShape = ModelShape::List(
    &ModelShape::Structure(&[
        required("Type", &ModelShape::Word(&["SRV", "A", "AAAA", "CNAME"])),
        required("TTL", &RECORD_TTL),
    ]),
    0,
    ANY,
);

/// How many times a check fails before an instance is unhealthy.
const FAILURE_THRESHOLD: ModelShape = ModelShape::Number(1, 10);

/// A health check.
const HEALTH_CHECK: ModelShape = ModelShape::Structure(&[
    required("Type", &ModelShape::Word(&["HTTP", "HTTPS", "TCP"])),
    optional("ResourcePath", &ModelShape::Text(0, 255, None)),
    optional("FailureThreshold", &FAILURE_THRESHOLD),
]);

/// A filter with the words that it can have as its name.
macro_rules! filters {
    ($($word:literal),*) => {
        ModelShape::List(
            &ModelShape::Structure(&[
                required("Name", &ModelShape::Word(&[$($word),*])),
                required("Values", &FILTER_VALUES),
                optional("Condition", &CONDITION),
            ]),
            0,
            ANY,
        )
    };
}

/// A request for a page of a listing.
macro_rules! listing {
    ($($word:literal),*) => {
        &[
            optional("NextToken", &NEXT_TOKEN),
            optional("MaxResults", &MAX_RESULTS),
            optional("Filters", &filters!($($word),*)),
        ]
    };
}

/// The operations of the double, each with the members of its request.
pub const OPERATIONS: &[(&str, &[ModelMember])] = &[
    ("ListNamespaces", listing!("TYPE", "NAME", "HTTP_NAME", "RESOURCE_OWNER")),
    ("GetNamespace", &[required("Id", &ARN)]),
    (
        "CreatePublicDnsNamespace",
        &[
            required("Name", &ModelShape::Text(0, 253, Some(ModelPattern::PublicName))),
            optional("CreatorRequestId", &RESOURCE_ID),
            optional("Description", &DESCRIPTION),
            optional("Tags", &TAGS),
            optional("Properties", &NAMESPACE_PROPERTIES),
        ],
    ),
    (
        "CreatePrivateDnsNamespace",
        &[
            required("Name", &ModelShape::Text(0, 253, Some(ModelPattern::PrivateName))),
            optional("CreatorRequestId", &RESOURCE_ID),
            optional("Description", &DESCRIPTION),
            required("Vpc", &RESOURCE_ID),
            optional("Tags", &TAGS),
            optional("Properties", &NAMESPACE_PROPERTIES),
        ],
    ),
    (
        "CreateHttpNamespace",
        &[
            required("Name", &ModelShape::Text(0, 1024, Some(ModelPattern::HttpName))),
            optional("CreatorRequestId", &RESOURCE_ID),
            optional("Description", &DESCRIPTION),
            optional("Tags", &TAGS),
        ],
    ),
    ("DeleteNamespace", &[required("Id", &ARN)]),
    ("ListServices", listing!("NAMESPACE_ID", "RESOURCE_OWNER")),
    ("GetService", &[required("Id", &ARN)]),
    (
        "CreateService",
        &[
            required("Name", &ModelShape::Text(0, ANY, Some(ModelPattern::ServiceName))),
            optional("NamespaceId", &ARN),
            optional("CreatorRequestId", &RESOURCE_ID),
            optional("Description", &DESCRIPTION),
            optional(
                "DnsConfig",
                &ModelShape::Structure(&[
                    optional("NamespaceId", &RESOURCE_ID),
                    optional("RoutingPolicy", &ModelShape::Word(&["MULTIVALUE", "WEIGHTED"])),
                    required("DnsRecords", &DNS_RECORDS),
                ]),
            ),
            optional("HealthCheckConfig", &HEALTH_CHECK),
            optional(
                "HealthCheckCustomConfig",
                &ModelShape::Structure(&[optional("FailureThreshold", &FAILURE_THRESHOLD)]),
            ),
            optional("Tags", &TAGS),
            optional("Type", &ModelShape::Word(&["HTTP"])),
        ],
    ),
    (
        "UpdateService",
        &[
            required("Id", &ARN),
            required(
                "Service",
                &ModelShape::Structure(&[
                    optional("Description", &DESCRIPTION),
                    optional("DnsConfig", &ModelShape::Structure(&[required("DnsRecords", &DNS_RECORDS)])),
                    optional("HealthCheckConfig", &HEALTH_CHECK),
                ]),
            ),
        ],
    ),
    ("DeleteService", &[required("Id", &ARN)]),
    (
        "ListInstances",
        &[required("ServiceId", &ARN), optional("NextToken", &NEXT_TOKEN), optional("MaxResults", &MAX_RESULTS)],
    ),
    ("GetInstance", &[required("ServiceId", &ARN), required("InstanceId", &RESOURCE_ID)]),
    (
        "RegisterInstance",
        &[
            required("ServiceId", &ARN),
            required("InstanceId", &INSTANCE_ID),
            optional("CreatorRequestId", &RESOURCE_ID),
            required("Attributes", &ATTRIBUTES),
        ],
    ),
    ("DeregisterInstance", &[required("ServiceId", &ARN), required("InstanceId", &RESOURCE_ID)]),
    (
        "GetOperation",
        &[
            required("OperationId", &ModelShape::Text(0, 255, None)),
            optional("OwnerAccount", &ModelShape::Text(12, 12, None)),
        ],
    ),
    ("ListOperations", listing!("NAMESPACE_ID", "SERVICE_ID", "STATUS", "TYPE", "UPDATE_DATE")),
    ("ListTagsForResource", &[required("ResourceARN", &RESOURCE_NAME)]),
    ("TagResource", &[required("ResourceARN", &RESOURCE_NAME), required("Tags", &TAGS)]),
    (
        "UntagResource",
        &[required("ResourceARN", &RESOURCE_NAME), required("TagKeys", &ModelShape::List(&TAG_KEY, 0, 200))],
    ),
];

/// A member that must be there.
const fn required(name: &'static str, shape: &'static ModelShape) -> ModelMember {
    ModelMember { name, shape, is_required: true }
}

/// A member that may be there.
const fn optional(name: &'static str, shape: &'static ModelShape) -> ModelMember {
    ModelMember { name, shape, is_required: false }
}

/// Writes all shapes as JSON, so that a test can hold them to the published model.
pub fn written_model() -> Value {
    let operations = OPERATIONS.iter().map(|(name, members)| ((*name).to_owned(), written_members(members)));
    Value::Object(operations.collect())
}

/// Writes the members of a structure.
fn written_members(members: &[ModelMember]) -> Value {
    let required: Vec<&str> = members.iter().filter(|member| member.is_required).map(|member| member.name).collect();
    let shapes = members.iter().map(|member| (member.name.to_owned(), written(member.shape)));
    json!({"type": "structure", "required": required, "members": Value::Object(shapes.collect())})
}

/// Writes a shape. A bound that is none is left out.
fn written(shape: &ModelShape) -> Value {
    let mut value = match shape {
        ModelShape::Text(least, most, pattern) => {
            json!({"type": "string", "min": least, "max": most, "pattern": pattern.map(ModelPattern::text)})
        }
        ModelShape::Word(words) => json!({"type": "string", "enum": words}),
        ModelShape::Number(least, most) => json!({"type": "number", "min": least, "max": most}),
        ModelShape::List(item, least, most) => {
            json!({"type": "list", "min": least, "max": most, "member": written(item)})
        }
        ModelShape::Map(key, item) => json!({"type": "map", "key": written(key), "value": written(item)}),
        ModelShape::Structure(members) => written_members(members),
    };
    if let Some(object) = value.as_object_mut() {
        object.retain(|_, part| !part.is_null() && *part != json!(ANY));
    }
    value
}
