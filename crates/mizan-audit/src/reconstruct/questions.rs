//! Secret bits and random subsets of people, as rows of bits.
//!
//! They come from a fixed pseudorandom sequence: the secrets are simulated, and the queries are not
//! secret. The noise is that of the real mechanism.

use mizan_core::SplitMix64;

/// The secret bits, and the people in each query.
#[derive(Clone, Debug)]
pub(super) struct Questions {
    people: usize,
    secrets: Vec<u64>,
    /// A row of bits for each query.
    rows: Vec<Vec<u64>>,
    /// The queries that each pair of people share.
    shared: Vec<u32>,
}

impl Questions {
    pub(super) fn new(people: usize, queries: usize, seed: u64) -> Self {
        let mut numbers = SplitMix64::new(seed);
        let secrets = bits(&mut numbers, people);
        let rows: Vec<Vec<u64>> = (0..queries).map(|_| bits(&mut numbers, people)).collect();
        let columns: Vec<Vec<u64>> = (0..people).map(|person| column(&rows, person)).collect();
        let common =
            |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum();
        let shared = columns
            .iter()
            .flat_map(|a| columns.iter().map(|b| common(a, b)))
            .collect();
        Self {
            people,
            secrets,
            rows,
            shared,
        }
    }

    pub(super) fn people(&self) -> usize {
        self.people
    }

    /// The bit of each person.
    pub(super) fn secrets(&self) -> impl Iterator<Item = bool> {
        (0..self.people).map(|person| bit(&self.secrets, person))
    }

    /// The number of set bits in each query.
    pub(super) fn true_answers(&self) -> impl Iterator<Item = u32> {
        let both = |row: &Vec<u64>| {
            row.iter()
                .zip(&self.secrets)
                .map(|(a, b)| (a & b).count_ones())
                .sum()
        };
        self.rows.iter().map(both)
    }

    /// The number of people in each query.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u32> {
        self.rows
            .iter()
            .map(|row| row.iter().map(|word| word.count_ones()).sum())
    }

    /// For each person, the sum of `values` over the queries that contain the person.
    pub(super) fn sums(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.people];
        for (row, value) in self.rows.iter().zip(values) {
            for (person, sum) in sums.iter_mut().enumerate() {
                *sum += if bit(row, person) { *value } else { 0.0 };
            }
        }
        sums
    }

    /// For each person, the sum of `weights` over all people, times the number of shared queries.
    pub(super) fn shared_sums(&self, weights: &[f64]) -> Vec<f64> {
        let product = |row: &[u32]| {
            row.iter()
                .zip(weights)
                .map(|(&count, weight)| f64::from(count) * weight)
                .sum()
        };
        self.shared.chunks(self.people).map(product).collect()
    }
}

fn bit(words: &[u64], at: usize) -> bool {
    words
        .get(at / 64)
        .is_some_and(|word| word >> (at % 64) & 1 == 1)
}

/// The queries that a person is in, as bits.
fn column(rows: &[Vec<u64>], person: usize) -> Vec<u64> {
    let word = |rows: &[Vec<u64>]| {
        let bits = rows.iter().enumerate();
        bits.fold(0, |word, (at, row)| {
            word | u64::from(bit(row, person)) << at
        })
    };
    rows.chunks(64).map(word).collect()
}

/// `count` random bits, padded with zeros to whole words.
fn bits(numbers: &mut SplitMix64, count: usize) -> Vec<u64> {
    let mut words: Vec<u64> = (0..count.div_ceil(64)).map(|_| numbers.word()).collect();
    if let (Some(last), 1..) = (words.last_mut(), count % 64) {
        *last &= (1 << (count % 64)) - 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_ways_of_summing_agree() {
        let questions = Questions::new(70, 130, 5);
        let weights: Vec<f64> = (0..70).map(|person| f64::from(person % 7)).collect();
        // Rows times weights, then columns times that.
        let per_query: Vec<f64> = questions
            .rows
            .iter()
            .map(|row| {
                (0..70)
                    .filter(|&person| bit(row, person))
                    .map(|person| weights[person])
                    .sum()
            })
            .collect();
        assert_eq!(questions.sums(&per_query), questions.shared_sums(&weights));
        assert!(questions.sizes().all(|size| size > 10 && size < 60));
        let secrets = questions.secrets().filter(|&bit| bit).count();
        assert!(secrets > 15 && secrets < 55);
        assert!(
            questions
                .true_answers()
                .zip(questions.sizes())
                .all(|(truth, size)| truth <= size)
        );
    }
}
