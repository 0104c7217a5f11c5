//! An authenticated caller, and what the caller may see.

use mizan_sql::Catalogue;

use super::Role;

/// Datasets and accounts; None means all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The datasets that may be queried.
    pub datasets: Option<Vec<String>>,
    /// The accounts that may be charged.
    pub accounts: Option<Vec<String>>,
}

/// An authenticated caller.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The name; several tokens may have the same one.
    pub name: String,
    /// The role.
    pub role: Role,
    /// The id of the token.
    pub token: String,
    /// The datasets and accounts that the token covers.
    pub scope: Scope,
}

impl Caller {
    /// Whether the caller may see all datasets and accounts.
    #[must_use]
    pub fn sees_all(&self) -> bool {
        matches!(self.role, Role::Owner | Role::Auditor)
    }

    /// Whether the caller may see a dataset.
    #[must_use]
    pub fn may_see_dataset(&self, name: &str) -> bool {
        self.sees_all() || is_in(self.scope.datasets.as_deref(), name)
    }

    /// Whether the caller may see an account: one of the scope, or one that pays for a
    /// dataset of the scope.
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

    /// Whether the caller may charge an account.
    #[must_use]
    pub fn may_charge(&self, account: &str) -> bool {
        match self.role {
            Role::Owner => true,
            Role::Runner => is_in(self.scope.accounts.as_deref(), account),
            Role::Analyst | Role::Auditor => false,
        }
    }

    /// The part of the catalogue that the caller may see. Other datasets are absent: they can
    /// be neither queried nor guessed from an error.
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
