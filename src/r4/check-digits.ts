/**
 * Checks the form of codes, with their check digits: legacy systems and mappings contain codes that cannot exist, and
 * receivers reject them. In: a system's address and a code. Out: false for a malformed code; true for systems without a
 * form.
 * https://loinc.org/kb/users-guide/loinc-database-structure/, https://docs.snomed.org (SCTID: Verhoeff's check digit)
 */
const SNOMED = 'http://snomed.info/sct';
const LOINC = 'http://loinc.org';
const RXNORM = 'http://www.nlm.nih.gov/research/umls/rxnorm';
const CVX = 'http://hl7.org/fhir/sid/cvx';
const NDC = 'http://hl7.org/fhir/sid/ndc';

export function hasTheForm(system: string | undefined, code: string): boolean {
  if (system === SNOMED) return /^[1-9]\d{5,17}$/.test(code) && verhoeff(code) === 0;
  if (system === LOINC) return /^L[APGL]\d{1,7}-\d$/.test(code) || (/^\d{1,7}-\d$/.test(code) && luhn(code));
  if (system === RXNORM) return /^[1-9]\d{0,7}$/.test(code);
  // A column of numbers turns 03 into 3, and a list 904224461 into 904224461.0.
  if (system === CVX) return /^\d{2,3}$/.test(code);
  if (system === NDC) return /^[\d*-]{9,14}$/.test(code);
  return /^\S+( \S+)*$/.test(code);
}

function luhn(code: string): boolean {
  const digits = [...code.replace('-', '')].reverse().map(Number);
  const sum = digits.reduce((total, digit, i) => {
    const twice = digit * 2;
    return total + (i % 2 === 0 ? digit : twice > 9 ? twice - 9 : twice);
  }, 0);
  return sum % 10 === 0;
}

/** Computes Verhoeff's check digit, as in SNOMED CT: the dihedral group of order ten. Zero for a correct code. */
function verhoeff(code: string): number {
  const inner = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
  const permuted = (digit: number, times: number): number =>
    times === 0 ? digit : permuted(inner[digit] ?? 0, times - 1);
  const times = (a: number, b: number): number => {
    const sum =
      a < 5 ? (b < 5 ? (a + b) % 5 : 5 + ((a + b - 5) % 5)) : b < 5 ? 5 + ((a - 5 - b + 5) % 5) : (a - b + 5) % 5;
    return sum;
  };
  return [...code].reverse().reduce((check, digit, i) => times(check, permuted(Number(digit), i % 8)), 0);
}
