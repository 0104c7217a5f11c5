//! Somebody whose token was believed, and what they may see.

use mizan_sql::Catalogue;

use super::Role;

/// Datasets and accounts; None stands for all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The datasets that may be asked about.
    pub datasets: Option<Vec<String>>,
    /// The accounts that may be charged.
    pub accounts: Option<Vec<String>>,
}

/// Somebody whose token was believed.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Who: several tokens may have one name, one after the other.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Which token.
    pub token: String,
    /// With what.
    pub scope: Scope,
}

impl Caller {
    /// Whether they see all there is.
    #[must_use]
    pub fn sees_all(&self) -> bool {
        matches!(self.role, Role::Owner | Role::Auditor)
    }

    /// Whether they may see a dataset.
    #[must_use]
    pub fn may_see_dataset(&self, name: &str) -> bool {
        self.sees_all() || is_in(self.scope.datasets.as_deref(), name)
    }

    /// Whether they may see an account: one they were given, or one that pays for a
    /// dataset they were given.
    #[must_use]
    pub fn may_see_account(&self, name: &str, catalogue: &Catalogue) -> bool {
        if self.sees_all() {
            return true;
        }
        if self.role == Role::Runner {
            return self.may_charge(name);
        }
        let mut datasets = catalogue.datasets.values();
        datasets.any(|dataset| {
            let pays = dataset.privacy.as_ref().is_some_and(|p| p.account == name);
            pays && self.may_see_dataset(&dataset.name)
        })
    }

    /// Whether they may charge an account.
    #[must_use]
    pub fn may_charge(&self, account: &str) -> bool {
        match self.role {
            Role::Owner => true,
            Role::Runner => is_in(self.scope.accounts.as_deref(), account),
            Role::Analyst | Role::Auditor => false,
        }
    }

    /// The catalogue as far as they may see it. What they may not see is not there:
    /// it can be neither asked about nor guessed from an error.
    #[must_use]
    pub fn sees(&self, catalogue: &Catalogue) -> Catalogue {
        let datasets = catalogue.datasets.iter();
        let seen = datasets.filter(|(name, _)| self.may_see_dataset(name));
        Catalogue {
            datasets: seen.map(|(n, d)| (n.clone(), d.clone())).collect(),
        }
    }
}

fn is_in(list: Option<&[String]>, name: &str) -> bool {
    list.is_none_or(|list| list.iter().any(|one| one == name))
}
