//! Sentences of the libraries in Arabic: how noise was chosen, what limits change,
//! what an answer's reader should know, and the words of charts.
//!
//! The libraries make them in English, with names and numbers in them. A sentence
//! is recognised by its fixed words, and what stands between them is carried over.
//! What is not recognised stays English and is marked as such. A test asks many
//! questions and sees that each of their sentences is known.

/// Everything that is filled in has a direction of its own.
const ISOLATE: char = '\u{2068}';

/// A formula is left to right.
const FORMULA: char = '\u{2066}';

/// The end of both.
const END: char = '\u{2069}';

/// What is filled in may be such a sentence itself, so deep.
const DEEPEST: u32 = 3;

/// Makes the table: English, and Arabic; the first that fits is taken.
macro_rules! lines {
    ($($english:literal => $arabic:literal;)*) => {
        const LINES: &[(&str, &str)] = &[$(($english, $arabic),)*];
    };
}

lines! {
    // How the noise was chosen.
    "{noise} noise: a group is shown above so many units: {units}" => "ضوضاء {noise}: تُعرض المجموعة إذا زاد عدد أفرادها على {units}";
    "{noise} noise: the first aggregate is off by about {width}" => "ضوضاء {noise}: يبتعد أول تجميع بنحو {width}";
    "{noise} noise would be {width} at epsilon {epsilon}" => "ضوضاء {noise} تعطي {width} عند [[ε {epsilon}]]";
    "the other noise is impossible: {reason}" => "الضوضاء الأخرى غير ممكنة: {reason}";
    "epsilon is shared by {parts} statistics in up to {groups} groups of a unit" => "تتقاسم ε إحصاءات عددها {parts} في ما يصل إلى {groups} من مجموعات كل فرد";
    "whoever is in more than {groups} groups is scaled down and stays in all of them, which costs no more" => "من كان في أكثر من {groups} من المجموعات يُصغَّر ويبقى فيها كلها، ولا يكلّف ذلك أكثر";
    "epsilon {epsilon} at delta {delta}; by the Renyi curve that the ledger adds up, {renyi}" => "[[ε {epsilon}]] عند [[δ {delta}]]؛ وبمنحنى ريني الذي يجمعه الدفتر {renyi}";
    "discrete Laplace" => "لابلاس المتقطعة";
    "discrete Gaussian" => "غاوس المتقطعة";
    "so small a budget needs noise wider than 64-bit integers" => "تحتاج ميزانية بهذا الصغر إلى ضوضاء أعرض من أعداد 64 بت";
    "no noise keeps epsilon {epsilon} at delta {delta}" => "لا ضوضاء تفي بـ [[ε {epsilon}]] عند [[δ {delta}]]";
    // What limits may change.
    "somebody in more than {groups} group counts in {same}, chosen by chance" => "من كان في أكثر من مجموعة واحدة يُحتسب في {same} تُختار بالصدفة";
    "somebody in more than {groups} groups counts in {same}, chosen by chance" => "من كان في أكثر من {groups} من المجموعات يُحتسب في {same} منها تُختار بالصدفة";
    "somebody in more than {groups} group counts in all of them, scaled down to what {same} can weigh" => "من كان في أكثر من مجموعة واحدة يُحتسب فيها كلها، مصغَّرًا إلى وزن {same}";
    "somebody in more than {groups} groups counts in all of them, scaled down to what {same} can weigh" => "من كان في أكثر من {groups} من المجموعات يُحتسب فيها كلها، مصغَّرًا إلى وزن {same}";
    "of somebody with more than {most} rows on a side of a join, {same} are joined, chosen by chance" => "من كان له في جانب من الربط أكثر من {most} من الصفوف يُربط منها {same} تُختار بالصدفة";
    "of somebody in a group counts at most what {rows} row can add up to" => "يُحتسب لكل فرد في المجموعة ما يبلغه صف واحد على الأكثر";
    "of somebody in a group counts at most what {rows} rows can add up to" => "يُحتسب لكل فرد في المجموعة ما تبلغه {rows} من الصفوف على الأكثر";
    "a total of somebody in a group below {low} or above {high} counts as that" => "مجموع الفرد في المجموعة دون {low} أو فوق {high} يُحتسب بهذا الحد";
    "{name} of somebody above {limit}, the declared rows, counts as {same}" => "{name} لفرد إذا زاد على {limit}، وهو عدد الصفوف المعلن، يُحتسب {same}";
    "{name} of somebody below {low} or above {high} counts as that" => "{name} لفرد دون {low} أو فوق {high} يُحتسب بهذا الحد";
    "{name} below {low} or above {high} counts as that" => "{name} دون {low} أو فوق {high} يُحتسب بهذا الحد";
    "{name} is at its lower bound within its noise: values may lie beyond" => "{name} عند حده الأدنى ضمن ضوضائه: قد توجد قيم وراءه";
    "{name} is at its upper bound within its noise: values may lie beyond" => "{name} عند حده الأعلى ضمن ضوضائه: قد توجد قيم وراءه";
    "{name} is at its lower bound within its noise in {count} of {all} groups: values may lie beyond" => "{name} عند حده الأدنى ضمن ضوضائه في {count} من {all} مجموعة: قد توجد قيم وراءه";
    "{name} is at its upper bound within its noise in {count} of {all} groups: values may lie beyond" => "{name} عند حده الأعلى ضمن ضوضائه في {count} من {all} مجموعة: قد توجد قيم وراءه";
    // What else people should know.
    "the limits on joins, memory and time were not checked: the data cannot be read now ({code})" => "لم تُفحص حدود الربط والذاكرة والوقت: تعذّرت قراءة البيانات الآن ({code})";
    "the account, or one above it, has {count} charges without an answer, and queries are refused from {limit} on" => "في الحساب، أو في حساب فوقه، عمليات خصم بلا إجابة عددها {count}، وتُرفض الأسئلة متى بلغت {limit}";
    "{name} is found in steps of {step} days" => "يُوجد {name} بخطوات قدرها {step} من الأيام";
    "{name} is found in steps of {step} microseconds" => "يُوجد {name} بخطوات قدرها {step} من الميكروثانية";
    "{name} is found in steps of {step}" => "يُوجد {name} بخطوات قدرها {step}";
    "every one of the {count} public groups is answered, those without rows too; rows with other keys are left out" => "يُجاب عن المجموعات المعلنة كلها وعددها {count}، حتى التي لا صفوف لها؛ وتُترك الصفوف ذات المفاتيح الأخرى";
    "groups with too few units are withheld, so there may be more" => "تُحجب المجموعات القليلة الأفراد، فقد يوجد غيرها";
    "there are more than {most} combinations of public keys, so groups are taken from the data" => "تركيبات المفاتيح المعلنة أكثر من {most}، فتؤخذ المجموعات من البيانات";
    "groups are shown only if their noisy number of units is above {above}: small groups are withheld, and those just above lean high, for which their intervals make up" => "لا تُعرض المجموعة إلا إذا زاد عدد أفرادها المشوش على {above}: تُحجب الصغيرة، وتميل القريبة من العتبة إلى الأعلى، وفتراتها تعوّض ذلك";
    "rows were chosen by their noisy values: intervals hold for all groups, less often for those that were chosen narrowly" => "اختيرت الصفوف بقيمها المشوشة: تصح الفترات لكل المجموعات، وأقل من ذلك لما اختير بفارق ضئيل";
    "{name}: with 95 % confidence its rank is within {rows} rows of {of}. In a group of at most {most} rows it is arbitrary{count}" => "{name}: بثقة [[95 %]] تقع رتبته ضمن {rows} من الصفوف من {of}. وفي فئة لا تزيد صفوفها على {most} تكون القيمة بلا معنى{count}";
    "; a COUNT of the same values in the query would tell where" => "؛ وإضافة [[COUNT]] للقيم نفسها إلى السؤال تبيّن أين";
    "{name} is NULL in {count} of {all} groups: too few rows for this quantile, by the noisy count" => "{name} بلا قيمة في {count} من {all} فئة: الصفوف أقل من أن تكفي لهذا المئين، بحسب العدد المشوش";
    "{name} is NULL: too few rows for this quantile, by the noisy count" => "{name} بلا قيمة: الصفوف أقل من أن تكفي لهذا المئين، بحسب العدد المشوش";
    "the true quantile{condition}" => "المئين الصحيح{condition}";
    "row {row} from the least, at which it aims{condition}" => "الصف {row} من الأصغر، وهو ما يستهدفه{condition}";
    "row {row} from the greatest, at which it aims{condition}" => "الصف {row} من الأكبر، وهو ما يستهدفه{condition}";
    ", if no more than {rows} rows are equal; before quantiles are put in order" => "، إذا لم يتساوَ أكثر من {rows} من الصفوف؛ وذلك قبل ترتيب المئينات";
    ", if no more than {rows} rows are equal" => "، إذا لم يتساوَ أكثر من {rows} من الصفوف";
    "; before quantiles are put in order" => "؛ وذلك قبل ترتيب المئينات";
    // The parts of an event.
    "all of {count}" => "الكل وعددها {count}";
    "{count} times" => "{count} من المرات";
    "for a group of {size}" => "لمجموعة من {size}";
    // Why a method does not apply.
    "`{event}` ({path}) {reason}" => "[[{event}]] ({path}): {reason}";
    "may fail with unbounded loss, so it has no Rényi guarantee at any order" => "قد يفشل بخسارة غير محدودة، فليس له ضمان ريني عند أي رتبة";
    "has unbounded loss, so it has no pure epsilon" => "خسارته غير محدودة، فليس له ε نقية";
    "is not Gaussian noise, so the exact Gaussian formula does not apply" => "ليس ضوضاء غاوس، فلا تنطبق صيغتها الدقيقة";
    "has no known concentrated guarantee" => "لا يُعرف له ضمان مركّز";
    "reports orders too small for a group of this size" => "رتبه أصغر من أن تكفي مجموعة بهذا الحجم";
    "says nothing about a group: the loss of each further person may be infinite" => "لا يقول شيئًا عن مجموعة: قد تكون خسارة كل شخص إضافي غير محدودة";
    "has parameters too large for doubles when taken for the group" => "معاملاته للمجموعة أكبر من أن تُحسب";
    "nests too deeply to be rewritten for a group" => "تداخله أعمق من أن يُكتب لمجموعة";
    "is known by a bound only, not by the distribution of its loss" => "يُعرف بحد فقط، لا بتوزيع خسارته";
    "has another loss when the two inputs are exchanged, which a sample of fixed size needs to be the same" => "تختلف خسارته عند تبديل المدخلين، والعينة الثابتة الحجم تحتاج إلى تساويهما";
    "is about other neighbours than the rest: poisson adds or removes a person, without-replacement and shuffle replace one" => "يخص جيرانًا غير جيران الباقي: فبعضها يضيف شخصًا أو يحذفه وبعضها يستبدله";
    "can move several coordinates at once, for which the worst loss is not known" => "قد يحرك عدة إحداثيات معًا، ولا تُعرف أسوأ خسارة لذلك";
    "is too large for the numerical accountant" => "أكبر من المحاسب العددي";
    "shuffles what is no local randomizer with a pure epsilon, and nothing else is known to be amplified" => "يخلط ما ليس معشِّيًا محليًا له ε نقية، ولا يُعرف تضخيم لغيره";
    "cannot be accounted by this version of Mizan" => "لا تحسبه هذه النسخة من ميزان";
    "the deltas of the parts add up to {total}, above the target" => "مجموع δ للأجزاء {total}، وهو فوق المطلوب";
    "no finite epsilon follows at this delta" => "لا ينتج ε منتهٍ عند δ هذه";
    "the deltas of the parts add up to the target but for rounding; this is for delta = {delta}" => "مجموع δ للأجزاء هو المطلوب عدا التقريب؛ وهذا عند [[δ = {delta}]]";
    // The words of charts.
    "{title}: {y} against {x}; curves: {names}." => "{title}: {y} مقابل {x}؛ المنحنيات: {names}.";
    "{y} against {x}; curves: {names}." => "{y} مقابل {x}؛ المنحنيات: {names}.";
    "order α" => "الرتبة α";
    "the orders listed" => "الرتب المذكورة";
    "What {event} reveals" => "ما يكشفه {event}";
    "Privacy profile" => "ملف الخصوصية";
    "exact at least" => "بالضبط على الأقل";
    "Trade-off of an attacker" => "مقايضة المهاجم";
    "false positives" => "إيجابيات كاذبة";
    "false negatives" => "سلبيات كاذبة";
    "no attack is below" => "لا هجوم دونه";
    "some attack is not above" => "هجوم ما ليس فوقه";
    "the best attack" => "أفضل هجوم";
    "guessing" => "التخمين";
    "What is left of {name}" => "ما بقي من {name}";
    "entry of the log" => "قيد السجل";
    "left, %" => "المتبقي، %";
    "Increase of the probability of a bad outcome after n rounds" => "ازدياد احتمال نتيجة سيئة بعد n جولة";
    "RR, {strength}, Pr = {baseline}" => "استجابة عشوائية، [[{strength}]]، [[Pr = {baseline}]]";
    "Laplace, {strength}, Pr = {baseline}" => "لابلاس، [[{strength}]]، [[Pr = {baseline}]]";
    "bound on the increase" => "حد الازدياد";
    "naive" => "بسيط";
    "advanced, best δ" => "متقدم، أفضل δ";
    "Proposition 4" => "المقترح 4";
    "Rényi, Proposition 10" => "ريني، المقترح 10";
    "exact" => "بالضبط";
    "Rényi differential privacy of basic mechanisms" => "الخصوصية التفاضلية لريني للآليات الأساسية";
    "Randomized response" => "الاستجابة العشوائية";
    "Laplace noise" => "ضوضاء لابلاس";
    "Gaussian noise" => "ضوضاء غاوس";
    "n rounds of randomized response ({rr}), Laplace ({laplace}) and Gaussian noise ({gaussian})" => "n جولة من الاستجابة العشوائية [[({rr})]] وضوضاء لابلاس [[({laplace})]] وغاوس [[({gaussian})]]";
    "Increase, Pr = {baseline}" => "الازدياد، [[Pr = {baseline}]]";
    "Best order, Pr = {baseline}" => "أفضل رتبة، [[Pr = {baseline}]]";
    "all orders" => "كل الرتب";
    "13 orders" => "13 رتبة";
}

/// A sentence of a library in Arabic, as text; None if it is not known.
pub(super) fn arabic(english: &str) -> Option<String> {
    deep(english, 0)
}

fn deep(english: &str, depth: u32) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    LINES.iter().find_map(|(pattern, arabic)| {
        let values = values(pattern, english)?;
        Some(filled(arabic, &values, depth))
    })
}

/// What stands at the placeholders, if the rest is the same.
fn values<'a>(pattern: &'static str, text: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (first, mut pattern) = pattern.split_once('{').unwrap_or((pattern, ""));
    let mut rest = text.strip_prefix(first)?;
    let mut values = Vec::new();
    while !pattern.is_empty() {
        let (name, after) = pattern.split_once('}')?;
        let (fixed, next) = after.split_once('{').unwrap_or((after, ""));
        let at = match (fixed.is_empty(), next.is_empty()) {
            // The last one ends where the text ends.
            (_, true) => rest.strip_suffix(fixed)?.len(),
            (false, false) => rest.find(fixed)?,
            (true, false) => return None,
        };
        let (value, after) = rest.split_at_checked(at)?;
        values.push((name, value));
        rest = after.strip_prefix(fixed)?;
        pattern = next;
    }
    rest.is_empty().then_some(values)
}

/// The placeholders filled, each with a direction of its own.
fn filled(arabic: &str, values: &[(&str, &str)], depth: u32) -> String {
    let mut text = String::with_capacity(arabic.len() * 2);
    let mut rest = arabic;
    while let Some(at) = rest.find(['{', '[', ']']) {
        let (before, after) = rest.split_at(at);
        text.push_str(before);
        rest = if let Some(after) = after.strip_prefix("[[") {
            text.push(FORMULA);
            after
        } else if let Some(after) = after.strip_prefix("]]") {
            text.push(END);
            after
        } else if let Some((name, after)) = after.strip_prefix('{').and_then(|a| a.split_once('}'))
        {
            let value = values.iter().find(|(key, _)| *key == name);
            let value = value.map_or("", |(_, value)| *value);
            match deep(value, depth + 1) {
                Some(known) => text.push_str(&known),
                None => text.extend([ISOLATE].into_iter().chain(value.chars()).chain([END])),
            }
            after
        } else {
            text.extend(after.chars().next());
            after.get(1..).unwrap_or_default()
        };
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(english: &str) -> String {
        let hidden = |c: char| matches!(c, ISOLATE | FORMULA | END);
        arabic(english).unwrap().replace(hidden, "")
    }

    #[test]
    fn what_stands_between_fixed_words_is_carried_over() {
        assert_eq!(
            seen("discrete Laplace noise: the first aggregate is off by about 12.5"),
            "ضوضاء لابلاس المتقطعة: يبتعد أول تجميع بنحو 12.5"
        );
        assert_eq!(
            seen("visits.cost below 0 or above 500 counts as that"),
            "visits.cost دون 0 أو فوق 500 يُحتسب بهذا الحد"
        );
        assert_eq!(
            seen(
                "m: with 95 % confidence its rank is within 40 rows of the true quantile, if no more than 3 rows are equal. In a group of at most 80 rows it is arbitrary; a COUNT of the same values in the query would tell where"
            ),
            "m: بثقة 95 % تقع رتبته ضمن 40 من الصفوف من المئين الصحيح، إذا لم يتساوَ أكثر من 3 من الصفوف. وفي فئة لا تزيد صفوفها على 80 تكون القيمة بلا معنى؛ وإضافة COUNT للقيم نفسها إلى السؤال تبيّن أين"
        );
        assert_eq!(
            seen("`gaussian(2)` (event) has unbounded loss, so it has no pure epsilon"),
            "gaussian(2) (event): خسارته غير محدودة، فليس له ε نقية"
        );
        assert_eq!(arabic("something else"), None);
        assert_eq!(arabic(""), None);
    }

    #[test]
    fn both_sides_have_the_same_placeholders_and_each_pattern_finds_itself() {
        let names = |text: &str| {
            let parts = text.split('{').skip(1);
            let mut names: Vec<_> = parts
                .filter_map(|part| part.split_once('}'))
                .map(|(name, _)| name.to_owned())
                .collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        for (english, said) in LINES {
            let (all, used) = (names(english), names(said));
            // What is one in English need not be said twice.
            assert!(used.iter().all(|name| all.contains(name)), "{english}");
            let one = english
                .split('{')
                .enumerate()
                .map(|(place, part)| match place {
                    0 => part.to_owned(),
                    _ => format!("x{}", part.split_once('}').unwrap().1),
                });
            let one: String = one.collect();
            assert!(arabic(&one).is_some(), "{one}");
            let opened = said.matches("[[").count();
            assert_eq!(opened, said.matches("]]").count(), "{said}");
        }
    }
}
