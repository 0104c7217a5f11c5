//! The labels of charts. Formulas and names of methods are the same in every language and are not
//! labels.

/// A text in a chart.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// The axis of Rényi orders.
    Order,
    /// The title of a Rényi curve.
    CurveOf {
        /// The event.
        event: String,
    },
    /// The requested points of a curve.
    ListedOrders,
    /// The title of a profile with its trade-off.
    Reveals {
        /// The event.
        event: String,
    },
    /// The title of the profile.
    PrivacyProfile,
    /// Lower bounds of the exact delta.
    ExactAtLeast,
    /// The title of the trade-off function.
    TradeOff,
    /// Its horizontal axis.
    FalsePositives,
    /// Its vertical axis.
    FalseNegatives,
    /// A lower bound of the trade-off function.
    NoAttackBelow,
    /// An upper bound of the trade-off function.
    SomeAttackNotAbove,
    /// The trade-off function, if both bounds are equal.
    BestAttack,
    /// The trade-off function of guessing.
    Guessing,
    /// The title of the burn-down of an account.
    LeftOf {
        /// The account.
        account: String,
    },
    /// The axis of log entries.
    LogEntry,
    /// The axis of the remaining share, in percent.
    LeftPercent,
    /// The title of the paper's figure 1.
    BasicMechanisms,
    /// A panel of figure 1.
    RandomizedResponse,
    /// A panel of figure 1.
    LaplaceNoise,
    /// A panel of figure 1.
    GaussianNoise,
    /// The title of figure 2.
    BadOutcome,
    /// A panel of figure 2.
    RandomizedResponseRisk {
        /// The parameter, as a formula.
        strength: String,
        /// The baseline: the probability without the person's data.
        baseline: &'static str,
    },
    /// A panel of figure 2.
    LaplaceRisk {
        /// The parameter, as a formula.
        strength: String,
        /// The baseline: the probability without the person's data.
        baseline: &'static str,
    },
    /// The vertical axis of figures 2 and 3.
    IncreaseBound,
    /// A curve of figure 2.
    Naive,
    /// A curve of figure 2.
    AdvancedBestDelta,
    /// A curve of figure 2.
    Proposition4,
    /// A curve of figure 2.
    RenyiProposition10,
    /// The exact increase.
    Exact,
    /// The title of figure 3.
    Rounds {
        /// The parameter of randomized response.
        truthful: f64,
        /// The scale of Laplace noise.
        scale: f64,
        /// The standard deviation of Gaussian noise.
        sigma: f64,
    },
    /// A panel of figure 3.
    IncreaseAt {
        /// The baseline: the probability without the person's data.
        baseline: &'static str,
    },
    /// A panel of figure 3.
    BestOrderAt {
        /// The baseline: the probability without the person's data.
        baseline: &'static str,
    },
    /// A curve of figure 3.
    AllOrders,
    /// A curve of figure 3: the orders of the paper.
    ThirteenOrders,
}

/// Renders the labels of a chart in one language.
pub type LabelText = fn(&Label) -> String;

impl Label {
    /// The label in English.
    #[must_use]
    pub fn english(&self) -> String {
        match self {
            Self::Order => "order α".to_owned(),
            Self::CurveOf { event } => format!("Rényi budget curve of {event}"),
            Self::ListedOrders => "the orders listed".to_owned(),
            Self::Reveals { event } => format!("What {event} reveals"),
            Self::PrivacyProfile => "Privacy profile".to_owned(),
            Self::ExactAtLeast => "exact at least".to_owned(),
            Self::TradeOff => "Trade-off of an attacker".to_owned(),
            Self::FalsePositives => "false positives".to_owned(),
            Self::FalseNegatives => "false negatives".to_owned(),
            Self::NoAttackBelow => "no attack is below".to_owned(),
            Self::SomeAttackNotAbove => "some attack is not above".to_owned(),
            Self::BestAttack => "the best attack".to_owned(),
            Self::Guessing => "guessing".to_owned(),
            Self::LeftOf { account } => format!("Remaining budget of account {account}"),
            Self::LogEntry => "log entry".to_owned(),
            Self::LeftPercent => "left, %".to_owned(),
            Self::BasicMechanisms => "Rényi differential privacy of basic mechanisms".to_owned(),
            Self::RandomizedResponse => "Randomized response".to_owned(),
            Self::LaplaceNoise => "Laplace noise".to_owned(),
            Self::GaussianNoise => "Gaussian noise".to_owned(),
            Self::BadOutcome => {
                "Increase of the probability of a bad outcome after n rounds".to_owned()
            }
            Self::RandomizedResponseRisk { strength, baseline } => {
                format!("RR, {strength}, Pr = {baseline}")
            }
            Self::LaplaceRisk { strength, baseline } => {
                format!("Laplace, {strength}, Pr = {baseline}")
            }
            Self::IncreaseBound => "bound on the increase".to_owned(),
            Self::Naive => "naive".to_owned(),
            Self::AdvancedBestDelta => "advanced, best δ".to_owned(),
            Self::Proposition4 => "Proposition 4".to_owned(),
            Self::RenyiProposition10 => "Rényi, Proposition 10".to_owned(),
            Self::Exact => "exact".to_owned(),
            Self::Rounds {
                truthful,
                scale,
                sigma,
            } => format!(
                "n rounds of randomized response ({truthful}), Laplace ({scale}) and Gaussian \
                 noise ({sigma})"
            ),
            Self::IncreaseAt { baseline } => format!("Increase, Pr = {baseline}"),
            Self::BestOrderAt { baseline } => format!("Best order, Pr = {baseline}"),
            Self::AllOrders => "all orders".to_owned(),
            Self::ThirteenOrders => "13 orders".to_owned(),
        }
    }
}
