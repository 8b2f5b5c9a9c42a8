/** Makes texts of dates and times in a form, some of them spoiled. */
import fc from 'fast-check';

export function writtenTexts(form: string): fc.Arbitrary<string> {
  const parts = fc.record({
    YYYY: fc.constantFrom('2024', '2023', '0000', '9999', '202'),
    YY: fc.constantFrom('24', '25', '99', '00', '2'),
    M: fc.constantFrom('03', '3', '11', '00', '13', '2', '12'),
    MON: fc.constantFrom('MAR', 'mar', 'Feb', 'DEC', 'XXX', 'ANF'),
    D: fc.constantFrom('10', '1', '01', '00', '31', '29', ' 4', '09'),
    h: fc.constantFrom('00', '0', '02', '2', '08', ' 8', '11', '12', '13', '23', '24', '25', '001'),
    m: fc.constantFrom('00', '30', '59', '60', '5'),
    s: fc.constantFrom('00', '05', '59', '60', '05.5', '05.123456789', '5', '05.'),
    AM: fc.constantFrom('AM', 'PM', 'am', 'p', ''),
    kept: fc.constantFrom('all', 'all', 'all', 'no second', 'no time'),
    end: fc.constantFrom('', '', '', ' ', 'x', '  7'),
  });
  return parts.map(of => {
    const cut =
      of.kept === 'all'
        ? form
        : of.kept === 'no time'
          ? form.replace(/(?:, |[ T@])?[Hh].*$/, '')
          : form.replace(/:?ss/, '');
    const text = cut.replace(/YYYY|YY|MON|MM?|DD?|HH?|hh?|mm|ss|AM/g, part => {
      if (part === 'YYYY' || part === 'YY' || part === 'MON' || part === 'AM') return of[part];
      return of[part.charAt(0) === 'H' ? 'h' : (part.charAt(0) as 'M' | 'D' | 'h' | 'm' | 's')];
    });
    return text + of.end;
  });
}
