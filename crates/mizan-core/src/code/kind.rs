//! Kinds of errors, and what programs do about each.

/// What kind of error a code is. The HTTP status, the exit code, the retry hint and
/// whether the server stops follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// The client wrote something that is not valid.
    Usage,
    /// The request is valid, and Mizan has no way to do it.
    Unsupported,
    /// The privacy policy refuses the query, whatever the budget: Mizan understands it, and
    /// an answer would not be bounded for every privacy unit (C1, C7) or not be paid for.
    Refused,
    /// The remaining budget does not cover the charge.
    BudgetExceeded,
    /// What the request names does not exist.
    NotFound,
    /// The request contradicts the present state.
    Conflict,
    /// The HTTP request cannot be parsed.
    Malformed,
    /// The request has no valid token.
    Unauthenticated,
    /// The token does not allow the request.
    Forbidden,
    /// The form belongs to another session of the browser.
    StaleForm,
    /// The address does not have this HTTP method.
    MethodNotAllowed,
    /// The request body is not of the expected media type.
    UnsupportedMediaType,
    /// The request body did not arrive in time.
    RequestTimeout,
    /// The request is larger than the server accepts.
    TooLarge,
    /// The client sends too many requests.
    RateLimited,
    /// A service is not available now; a retry may succeed.
    Unavailable,
    /// The computation takes longer than the server waits.
    DeadlineExceeded,
    /// A query exceeded a limit of this installation while it ran.
    LimitExceeded,
    /// Files, data or settings of this installation need the data owner or the operator.
    Configuration,
    /// The ledger or a stored answer is not intact.
    Integrity,
    /// A fault in Mizan or in the system below it.
    Internal,
    /// The outcome of a ledger write is unknown until a restart.
    Fatal,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 22] = [
        Self::Usage,
        Self::Unsupported,
        Self::Refused,
        Self::BudgetExceeded,
        Self::NotFound,
        Self::Conflict,
        Self::Malformed,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::StaleForm,
        Self::MethodNotAllowed,
        Self::UnsupportedMediaType,
        Self::RequestTimeout,
        Self::TooLarge,
        Self::RateLimited,
        Self::Unavailable,
        Self::DeadlineExceeded,
        Self::LimitExceeded,
        Self::Configuration,
        Self::Integrity,
        Self::Internal,
        Self::Fatal,
    ];

    /// Its name in the documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Unsupported => "unsupported",
            Self::Refused => "refused",
            Self::BudgetExceeded => "budget exceeded",
            Self::NotFound => "not found",
            Self::Conflict => "conflict",
            Self::Malformed => "malformed",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::StaleForm => "stale form",
            Self::MethodNotAllowed => "method not allowed",
            Self::UnsupportedMediaType => "unsupported media type",
            Self::RequestTimeout => "request timeout",
            Self::TooLarge => "too large",
            Self::RateLimited => "rate limited",
            Self::Unavailable => "unavailable",
            Self::DeadlineExceeded => "deadline exceeded",
            Self::LimitExceeded => "limit exceeded",
            Self::Configuration => "configuration",
            Self::Integrity => "integrity",
            Self::Internal => "internal",
            Self::Fatal => "fatal",
        }
    }

    /// What it means, in a sentence of the documentation.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Usage => "The client wrote something that is not valid.",
            Self::Unsupported => "The request is valid, and Mizan has no way to do it.",
            Self::Refused => "The privacy policy refuses the query, whatever the budget.",
            Self::BudgetExceeded => "The remaining budget does not cover the charge.",
            Self::NotFound => "What the request names does not exist.",
            Self::Conflict => "The request contradicts the present state.",
            Self::Malformed => "The HTTP request cannot be parsed.",
            Self::Unauthenticated => "The request has no valid token.",
            Self::Forbidden => "The token does not allow the request.",
            Self::StaleForm => "The form belongs to another session of the browser.",
            Self::MethodNotAllowed => "The address does not have this HTTP method.",
            Self::UnsupportedMediaType => "The request body is not of the expected media type.",
            Self::RequestTimeout => "The request body did not arrive in time.",
            Self::TooLarge => "The request is larger than the server accepts.",
            Self::RateLimited => "The client sends too many requests.",
            Self::Unavailable => "A service is not available now; a retry may succeed.",
            Self::DeadlineExceeded => "The computation takes longer than the server waits.",
            Self::LimitExceeded => "A query exceeded a limit of this installation while it ran.",
            Self::Configuration => {
                "Files, data or settings of this installation need the data owner or the operator."
            }
            Self::Integrity => "The ledger or a stored answer is not intact.",
            Self::Internal => "A fault in Mizan or in the system below it.",
            Self::Fatal => "The outcome of a ledger write is unknown: only a restart can tell.",
        }
    }

    /// The status of an HTTP response.
    #[must_use]
    pub const fn http_status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden | Self::StaleForm => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::RequestTimeout => 408,
            Self::BudgetExceeded | Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Usage | Self::Unsupported | Self::Refused => 422,
            Self::RateLimited => 429,
            Self::LimitExceeded | Self::Configuration | Self::Integrity | Self::Internal => 500,
            Self::Unavailable | Self::DeadlineExceeded | Self::Fatal => 503,
        }
    }

    /// The exit code of a command: 1 is a refusal, 2 an error.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Refused | Self::BudgetExceeded => 1,
            _ => 2,
        }
    }

    /// After how many seconds a client may retry, if a retry may succeed.
    #[must_use]
    pub const fn retry_after(self) -> Option<u64> {
        match self {
            Self::RateLimited | Self::Unavailable | Self::Fatal => Some(1),
            // The same computation takes as long again.
            Self::DeadlineExceeded => Some(10),
            _ => None,
        }
    }

    /// Whether the server must stop: the ledger finds out what became of its last write
    /// when it is opened again.
    #[must_use]
    pub const fn stops_server(self) -> bool {
        matches!(self, Self::Fatal)
    }

    /// Whether the error is on the server's side. Its message may name paths, addresses
    /// and settings: the server logs it, and sends only the code to clients.
    #[must_use]
    pub const fn is_server_side(self) -> bool {
        self.http_status() >= 500
    }
}
