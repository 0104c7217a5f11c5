//! Decodes canonical bytes, which contain only what decides the release.

use mizan_sql::*;

struct Decoder<'a>(&'a [u8]);

pub(crate) fn plan(bytes: &[u8]) -> BoundedPlan {
    let mut bytes = Decoder(bytes);
    assert_eq!(bytes.text(), "mizan bounded plan 1");
    let plan = BoundedPlan {
        datasets: bytes.list(Decoder::text),
        public: bytes.list(Decoder::text),
        relation: bytes.relation(),
        keys: bytes.list(|bytes| Key {
            name: String::new(),
            expression: bytes.expr(),
            kind: bytes.kind(),
        }),
        groups: match bytes.tag() {
            0 => Groups::Public(bytes.list(|bytes| bytes.list(Decoder::value))),
            1 => Groups::Private,
            other => panic!("{other}"),
        },
        groups_per_unit: bytes.unsigned(),
        group_bounding: match bytes.tag() {
            0 => GroupBounding::NotNeeded,
            1 => GroupBounding::SampleGroups,
            2 => GroupBounding::ClipL2,
            other => panic!("{other}"),
        },
        statistics: bytes.list(|bytes| Statistic {
            measure: bytes.measure(),
            low: bytes.integer(),
            high: bytes.integer(),
        }),
        output: Output {
            aggregates: bytes.list(|bytes| Aggregate::Quantile {
                histogram: bytes.unsigned() as usize,
                at: bytes.number(),
                kind: Type::Number,
            }),
            ..Output::default()
        },
        clamping: Vec::new(),
        notes: Vec::new(),
    };
    assert!(bytes.0.is_empty(), "bytes are left");
    plan
}

impl Decoder<'_> {
    fn take(&mut self, count: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken.to_vec()
    }

    fn tag(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn flag(&mut self) -> bool {
        match self.tag() {
            0 => false,
            1 => true,
            other => panic!("{other}"),
        }
    }

    fn unsigned(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn integer(&mut self) -> i64 {
        i64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn number(&mut self) -> f64 {
        f64::from_bits(self.unsigned())
    }

    fn text(&mut self) -> String {
        let length = self.unsigned() as usize;
        String::from_utf8(self.take(length)).unwrap()
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = self.unsigned();
        (0..length).map(|_| each(self)).collect()
    }

    fn boxed(&mut self) -> Box<Relation> {
        Box::new(self.relation())
    }

    fn kind(&mut self) -> Type {
        Type::ALL[self.tag() as usize]
    }

    fn value(&mut self) -> Value {
        match self.tag() {
            0 => Value::Null,
            1 => Value::Boolean(self.flag()),
            2 => Value::Integer(self.integer()),
            3 => Value::Number(self.number()),
            4 => Value::Text(self.text()),
            5 => Value::Date(self.integer() as i32),
            6 => Value::Timestamp(self.integer()),
            other => panic!("{other}"),
        }
    }

    fn bounds(&mut self) -> Bounds {
        Bounds::new(self.number(), self.number()).unwrap()
    }

    fn quantized(&mut self) -> Quantized {
        Quantized {
            bounds: self.bounds(),
            centre: self.number(),
            exponent: self.integer() as i32,
            squared: self.flag(),
        }
    }

    fn measure(&mut self) -> Measure {
        match self.tag() {
            0 => Measure::Units,
            1 => Measure::Rows,
            2 => Measure::Count(self.expr()),
            3 => Measure::Sum(self.expr(), self.quantized()),
            4 => Measure::Distinct(self.expr()),
            5 => Measure::Histogram(self.expr(), self.quantized()),
            6 => Measure::Scaled(self.expr(), self.quantized(), self.integer()),
            other => panic!("{other}"),
        }
    }

    fn unit_aggregate(&mut self) -> UnitAggregate {
        match self.tag() {
            0 => UnitAggregate::Rows,
            1 => UnitAggregate::Count(self.expr()),
            2 => UnitAggregate::CountDistinct(self.expr()),
            3 => UnitAggregate::Sum(self.expr(), self.quantized()),
            4 => UnitAggregate::Min(self.expr()),
            5 => UnitAggregate::Max(self.expr()),
            other => panic!("{other}"),
        }
    }

    fn relation(&mut self) -> Relation {
        let operator = match self.tag() {
            0 => Operator::Scan {
                dataset: self.text(),
            },
            1 => Operator::Filter {
                input: self.boxed(),
                predicate: self.expr(),
            },
            2 => Operator::Project {
                input: self.boxed(),
                expressions: self.list(Self::expr),
            },
            3 => Operator::Join {
                left: self.boxed(),
                right: self.boxed(),
                keeps_left: self.flag(),
                on: self.list(|bytes| (bytes.expr(), bytes.expr())),
                condition: self.flag().then(|| self.expr()),
            },
            4 => Operator::Union {
                inputs: self.list(Self::relation),
            },
            5 => Operator::Group {
                input: self.boxed(),
                keys: self.list(Self::expr),
                aggregates: self.list(Self::unit_aggregate),
            },
            6 => Operator::LimitRowsPerUnit {
                input: self.boxed(),
                rows: self.unsigned(),
                read: self.list(|bytes| bytes.unsigned() as usize),
            },
            other => panic!("{other}"),
        };
        let named = matches!(operator, Operator::Scan { .. });
        Relation {
            operator,
            columns: self.list(|bytes| Column {
                name: if named { bytes.text() } else { String::new() },
                kind: bytes.kind(),
                bounds: bytes.flag().then(|| bytes.bounds()),
            }),
            unit: self.list(|bytes| bytes.unsigned() as usize),
            one_row_per_unit: self.flag(),
        }
    }

    fn expr(&mut self) -> Expr {
        match self.tag() {
            0 => Expr::Column(self.unsigned() as usize),
            1 => Expr::Literal(self.value(), self.kind()),
            2 => Expr::Call(function(self.tag()), self.list(Self::expr)),
            3 => Expr::Case {
                branches: self.list(|bytes| (bytes.expr(), bytes.expr())),
                otherwise: Box::new(self.expr()),
            },
            4 | 5 => Expr::Cast(Box::new(self.expr()), self.kind()),
            other => panic!("{other}"),
        }
    }
}

fn function(tag: u8) -> Function {
    use Function::*;
    const PLAIN: [Function; 35] = [
        Add,
        Subtract,
        Multiply,
        Divide,
        Remainder,
        Negate,
        Equal,
        NotEqual,
        Less,
        LessOrEqual,
        Greater,
        GreaterOrEqual,
        And,
        Or,
        Not,
        IsNull,
        In,
        Like,
        Coalesce,
        NullIf,
        Least,
        Greatest,
        Floor,
        Ceil,
        Round,
        Abs,
        Sign,
        Sqrt,
        Lower,
        Upper,
        Trim,
        Length,
        Substring,
        Concat,
        Bucket,
    ];
    match tag {
        50.. => Extract(TimePart::ALL[usize::from(tag) - 50]),
        40.. => Truncate(TimeUnit::ALL[usize::from(tag) - 40]),
        _ => PLAIN[usize::from(tag)],
    }
}
