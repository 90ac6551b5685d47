//! The patterns of the model, each as its text and as a function that was written from it.

/// A pattern of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPattern {
    /// The identifier of an instance that is to be registered.
    InstanceId,
    /// The name of a service.
    ServiceName,
    /// The name of a public namespace.
    PublicName,
    /// The name of a private namespace.
    PrivateName,
    /// The name of a namespace without DNS.
    HttpName,
    /// The key of an attribute.
    AttributeKey,
    /// The value of an attribute.
    AttributeValue,
}

impl ModelPattern {
    /// All patterns.
    pub const ALL: [Self; 7] = [
        Self::InstanceId,
        Self::ServiceName,
        Self::PublicName,
        Self::PrivateName,
        Self::HttpName,
        Self::AttributeKey,
        Self::AttributeValue,
    ];

    /// Returns the pattern as the model writes it.
    pub fn text(self) -> &'static str {
        match self {
            Self::InstanceId => "^[0-9a-zA-Z_/:.@-]+$",
            Self::ServiceName => {
                "((?=^.{1,127}$)^([a-zA-Z0-9_][a-zA-Z0-9-_]{0,61}[a-zA-Z0-9_]|[a-zA-Z0-9])\
                 (\\.([a-zA-Z0-9_][a-zA-Z0-9-_]{0,61}[a-zA-Z0-9_]|[a-zA-Z0-9]))*$)|(^\\.$)"
            }
            Self::PublicName => {
                "^([a-zA-Z0-9]([a-zA-Z0-9\\-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z0-9]([a-zA-Z0-9\\-]{0,61}[a-zA-Z0-9])?$"
            }
            Self::PrivateName => "^(?!arn:)[!-~]{1,253}$",
            Self::HttpName => "^(?!arn:)[!-~]{1,1024}$",
            Self::AttributeKey => "^[a-zA-Z0-9!-~]+$",
            Self::AttributeValue => "^([a-zA-Z0-9!-~][ \\ta-zA-Z0-9!-~]*){0,1}[a-zA-Z0-9!-~]{0,1}$",
        }
    }

    /// Whether a text fits.
    pub fn fits(self, text: &str) -> bool {
        let all = |is_good: fn(u8) -> bool| !text.is_empty() && text.bytes().all(is_good);
        match self {
            Self::InstanceId => all(|octet| octet.is_ascii_alphanumeric() || b"_/:.@-".contains(&octet)),
            Self::ServiceName => text == "." || text.len() <= 127 && text.split('.').all(is_service_label),
            Self::PublicName => text.contains('.') && text.split('.').all(is_host_label),
            Self::PrivateName => {
                text.len() <= 253 && !text.starts_with("arn:") && all(|octet| octet.is_ascii_graphic())
            }
            Self::HttpName => text.len() <= 1024 && !text.starts_with("arn:") && all(|octet| octet.is_ascii_graphic()),
            Self::AttributeKey => all(|octet| octet.is_ascii_graphic()),
            // The first group may end in blanks, so a blank can be anywhere but in front.
            Self::AttributeValue => {
                text.bytes().all(|octet| octet.is_ascii_graphic() || octet == b' ' || octet == b'\t')
                    && !text.starts_with([' ', '\t'])
            }
        }
    }
}

/// Whether a text is a label of a service: an underscore may be anywhere; one that is alone is none.
fn is_service_label(label: &str) -> bool {
    let is_inner = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_';
    let is_label = label.len() <= 63 && label.bytes().all(is_inner) && !label.starts_with('-') && !label.ends_with('-');
    is_label && !label.is_empty() && label != "_"
}

/// Whether a text is a label of a host.
fn is_host_label(label: &str) -> bool {
    let is_inner = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-';
    let is_label = label.len() <= 63 && label.bytes().all(is_inner) && !label.starts_with('-') && !label.ends_with('-');
    is_label && !label.is_empty()
}
