//! The pages about error codes, as they are in docs/errors, for people without the repository.

use mainspring_core::spec::Code;

macro_rules! pages {
    ($($code:literal)*) => {
        &[$(($code, include_str!(concat!("../../../docs/errors/", $code, ".md")))),*]
    };
}

const PAGES: &[(&str, &str)] = pages! {
    "E001" "E002" "E003" "E004" "E005" "E006" "E007" "E008" "E009" "E010" "E011" "E012" "E013"
    "E014" "E015" "E016"
    "E101" "E102" "E103" "E104" "E105" "E106" "E107" "E108" "E109" "E110" "E111" "E112"
    "E201" "E202" "E203" "E204" "E205" "E206" "E207" "E208" "E209" "E210" "E211" "E212" "E213"
    "E214" "E215" "E216" "E217" "E218" "E219"
    "E301" "E302" "E303" "E304"
    "E401" "E402" "E403"
    "E999"
    "W001" "W002"
};

/// The page about a code.
pub fn page(code: Code) -> &'static str {
    let page = PAGES.iter().find(|(word, _)| *word == code.word());
    page.map(|(_, page)| *page).expect("a test finds a page for every code")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_that_says_its_title_and_no_page_is_without_a_code() {
        for code in Code::ALL {
            let title = format!("# {code}: {}\n", code.title());
            assert!(
                page(*code).starts_with(&title),
                "docs/errors/{code}.md must begin with {title}"
            );
        }
        assert_eq!(PAGES.len(), Code::ALL.len());
    }
}
