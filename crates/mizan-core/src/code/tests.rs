//! The contract of the registry: each code once, in two languages, with the status and the exit code
//! that clients rely on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::{Code, ErrorKind};

#[test]
fn codes_are_in_order_and_unique() {
    let names: Vec<_> = Code::all().map(Code::as_str).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    assert!(names.len() > 300, "{}", names.len());
}

#[test]
fn a_code_is_written_as_it_was() {
    assert_eq!(format!("[{}]", Code::MZ0001), "[MZ0001]");
    assert_eq!(serde_json::to_string(&Code::MZ1809).unwrap(), "\"MZ1809\"");
    assert_eq!(Code::MZ1809, "MZ1809");
}

#[test]
fn every_sentence_is_whole_and_in_its_language() {
    let arabic = |c: char| ('\u{621}'..='\u{652}').contains(&c);
    for code in Code::all() {
        for text in [code.title(), code.next_step()] {
            let english = text.english;
            assert!(english.ends_with('.'), "{code}: {english}");
            assert!(!english.chars().any(arabic), "{code}: {english}");
            assert!(
                english.starts_with(|c: char| c.is_uppercase()),
                "{code}: {english}"
            );
            assert!(text.arabic.ends_with('.'), "{code}: {}", text.arabic);
            let letters = text.arabic.chars().filter(|c| arabic(*c)).count();
            assert!(letters > 5, "{code}: {}", text.arabic);
            // Numbers are written as in the formulas beside them.
            let eastern = |c: char| matches!(c, '٠'..='٩' | '۰'..='۹');
            assert!(!text.arabic.chars().any(eastern), "{code}");
        }
        // In a table of the documentation.
        assert!(!code.title().english.contains('|'), "{code}");
        assert!(!code.next_step().english.contains('|'), "{code}");
    }
}

/// Status, exit code, seconds until a retry, and the codes that have them. Clients rely on
/// this table: a change here is a change of the interface and belongs into the changelog.
const PINNED: &[(u16, u8, Option<u64>, &str)] = &[
    (400, 2, None, "2008"),
    (401, 2, None, "2001"),
    (403, 2, None, "2002 2005"),
    (404, 2, None, "1735 1784 1791 1794 1866 2003 2037"),
    (405, 2, None, "2004"),
    (408, 2, None, "2007"),
    (409, 1, None, "2020"),
    (
        409,
        2,
        None,
        "0011 1731 1732 1736 1742 1743 1745 1746 1773 1785 1793 1795 1876 1997",
    ),
    (413, 2, None, "2006 2014"),
    (415, 2, None, "2009"),
    (
        422,
        1,
        None,
        "1811 1814 1815 1817 1819 1821 1822 1823 1824 1825 1830 1832",
    ),
    (
        422,
        2,
        None,
        "0001 0003 0004 0005 0006 0008 0009 0010 1001 1002 1003 1004 1005 1006 1007 1008 \
         1011 1012 1013 1101 1102 1103 1104 1105 1106 1107 1108 1109 1110 1111 1112 1113 \
         1114 1115 1116 1117 1118 1119 1120 1121 1122 1123 1124 1125 1126 1127 1128 1129 \
         1130 1131 1132 1133 1134 1135 1136 1137 1138 1139 1140 1201 1202 1203 1204 1205 \
         1206 1207 1208 1209 1210 1211 1212 1213 1214 1215 1216 1217 1218 1301 1302 1303 \
         1304 1401 1501 1502 1503 1504 1505 1506 1602 1603 1604 1605 1606 1607 1608 1609 \
         1610 1611 1612 1621 1622 1701 1702 1703 1704 1705 1706 1707 1708 1710 1711 1712 \
         1713 1714 1720 1721 1722 1733 1734 1737 1738 1739 1740 1741 1744 1747 1749 1782 \
         1786 1790 1792 1801 1802 1803 1804 1805 1806 1807 1808 1809 1810 1812 1813 1816 \
         1818 1820 1826 1827 1828 1829 1833 1834 1835 1836 1837 1838 1840 1867 1868 1869 \
         1870 1871 1872 1873 1874 1875 1880 1881 1882 1883 1884 1885 1886 1887 1922 1930 \
         1940 1941 1942 1943 1950 1951 1952 1953 1954 1955 1956 1965 1966 1992 1995 1996 2035 2036 2038",
    ),
    (429, 2, Some(1), "2010"),
    (
        500,
        2,
        None,
        "0002 1601 1613 1715 1725 1726 1727 1730 1748 1750 1751 1752 1760 1761 1762 1763 \
         1765 1767 1768 1769 1770 1771 1775 1776 1777 1778 1779 1780 1781 1783 1787 1788 \
         1789 1831 1839 1860 1861 1862 1863 1864 1865 1901 1902 1903 1904 1905 1906 1907 \
         1909 1910 1911 1912 1914 1915 1916 1918 1919 1923 1924 1926 1928 1931 1932 1933 \
         1934 1935 1936 1957 1958 1959 1961 1962 1990 1991 1998 2013 2030 2031 2032 2033 \
         2034 2039 2040 2041 2042 2050 2051",
    ),
    (
        503,
        2,
        Some(1),
        "0007 1753 1764 1766 1772 1774 1796 1908 1913 1917 1920 1921 1925 1927 1929 1964 2011",
    ),
    (503, 2, Some(10), "2012"),
];

#[test]
fn status_exit_code_and_retry_are_pinned() {
    let mut found: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for code in Code::all() {
        let kind = code.kind();
        let key = (kind.http_status(), kind.exit_code(), kind.retry_after());
        let number = code.as_str().strip_prefix("MZ").unwrap();
        found.entry(key).or_default().push(number);
    }
    let found: Vec<_> = found
        .into_iter()
        .map(|((status, exit, retry), codes)| (status, exit, retry, codes.join(" ")))
        .collect();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let pinned: Vec<_> = PINNED
        .iter()
        .map(|(status, exit, retry, codes)| (*status, *exit, *retry, words(codes)))
        .collect();
    assert_eq!(found, pinned);
}

#[test]
fn the_server_stops_for_an_unknown_write_only() {
    let stops: Vec<_> = Code::all().filter(|c| c.kind().stops_server()).collect();
    assert_eq!(stops, [Code::MZ1766, Code::MZ1774]);
}

fn page() -> String {
    let mut page = String::from(
        "# Error codes\n\n\
         Each error has a code with one meaning: on the command line (`error[MZ1809]: ...`), \
         in JSON (`code`) and over HTTP (`urn:mizan:MZ1809`). The kind of a code decides the \
         HTTP status, the exit code and whether a retry may succeed.\n\n\
         This page is generated from the registry in `crates/mizan-core/src/code/`:\n\
         `cargo test -p mizan-core write_errors_page -- --ignored` writes it.\n\n\
         ## Kinds\n\n\
         | kind | meaning | HTTP status | exit code | `Retry-After` |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for kind in ErrorKind::ALL {
        let retry = kind
            .retry_after()
            .map_or_else(String::new, |seconds| format!("{seconds} s"));
        writeln!(
            page,
            "| {} | {} | {} | {} | {retry} |",
            kind.name(),
            kind.meaning(),
            kind.http_status(),
            kind.exit_code(),
        )
        .unwrap();
    }
    page.push_str(
        "\nExit code 1 is a refusal, 2 an error. The server logs the message of a 5xx error and \
         sends its code only, because messages may name paths and addresses. After a fatal \
         error the server stops: the ledger finds out what became of its last write when it \
         is opened again.\n",
    );
    for area in Code::areas() {
        write!(
            page,
            "\n## {}\n\n| code | kind | what is wrong | what to do |\n| --- | --- | --- | --- |\n",
            area.title
        )
        .unwrap();
        for code in area.codes {
            writeln!(
                page,
                "| {code} | {} | {} | {} |",
                code.kind().name(),
                code.title().english,
                code.next_step().english
            )
            .unwrap();
        }
    }
    page
}

fn page_path() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("docs/errors.md")
}

#[test]
fn the_errors_page_is_the_registry() {
    let written = std::fs::read_to_string(page_path()).unwrap();
    assert!(
        written == page(),
        "docs/errors.md differs: run `cargo test -p mizan-core write_errors_page -- --ignored`"
    );
}

#[test]
#[ignore = "writes docs/errors.md"]
fn write_errors_page() {
    std::fs::write(page_path(), page()).unwrap();
}
