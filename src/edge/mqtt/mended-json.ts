import { type Fault, MOST_FAULTS } from '@lapel/schemas/contracts/errors';

/** A text after its repair, and a fault for each place that was repaired. */
interface Mended {
  text: string;
  faults: Fault[];
}

// Each expression begins at the reader's place and passes a run of characters once, so a text is read in linear time.
const BLANKS = /[\s\p{Cc}\ufffd]+/uy;
const JSON_BLANKS = /^[ \t\n\r]*$/;
const WORD = /[^\s\p{Cc}\ufffd"{}[\],:]+/uy;
const VALUE = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const PLAIN = /[^"\\\p{Cc}]*/uy;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const SHOWN = 32; // characters of a word that a fault repeats

const hex = (char: string): string => char.charCodeAt(0).toString(16).padStart(4, '0');

/**
 * Repairs the usual faults of small JSON writers, so that one byte does not cost a message: a C string's NUL at the end, NaN
 * and other words that are not JSON (they become null), words behind a value, raw control characters and wrong escapes in
 * strings, blanks of other alphabets, a comma too many, a value that is missing, text behind the value. Other faults stay,
 * so the text must be parsed afterwards.
 */
export function mendJson(text: string): Mended {
  const out: string[] = [];
  const faults: Fault[] = [];
  let at = 0;
  let depth = 0;
  let before: 'start' | 'value' | 'comma' | 'colon' = 'start';
  let commaAt = 0; // the place of the last comma in `out`
  let wordAt = -1; // the place of the last value in `out` if that is a word, and -1 if it is a string, an object or a list

  function tell(msg: string): void {
    if (faults.length > MOST_FAULTS) return;
    faults.push({ loc: ['body'], msg: `${msg}, position ${at}`, type: 'json_invalid' });
  }

  /** Takes the characters that the expression finds here; an empty text when it finds none. */
  function take(run: RegExp): string {
    run.lastIndex = at;
    return run.exec(text)?.[0] ?? '';
  }

  function string(): void {
    out.push('"');
    at += 1;
    while (at < text.length) {
      const plain = take(PLAIN);
      out.push(plain);
      at += plain.length;
      const char = text[at] ?? '';
      if (char === '"') {
        out.push(char);
        at += 1;
        return;
      }
      const escaped = char === '\\' ? take(ESCAPE) : '';
      if (escaped === '' && char !== '') {
        tell(
          char === '\\' ? 'Backslash without an escape was doubled' : `Control character U+${hex(char)} was escaped`,
        );
      }
      out.push(escaped || (char === '\\' ? '\\\\' : char && `\\u${hex(char)}`));
      at += escaped.length || 1;
    }
  }

  function blanks(run: string): void {
    if (!JSON_BLANKS.test(run)) tell(`Character U+${hex(/[^ \t\n\r]/.exec(run)![0])} outside of a string was left out`);
    out.push(' ');
    at += run.length;
  }

  function word(): void {
    const found = take(WORD);
    const shown = found.slice(0, SHOWN).toWellFormed();
    const isValue = VALUE.test(found);
    if (before !== 'value') {
      if (!isValue) tell(`'${shown}' is not a JSON value and became null`);
      wordAt = out.length;
      out.push(isValue ? found : 'null');
    } else if (wordAt >= 0) {
      // Two words with blanks between them: neither is the value that the device meant.
      tell(`A value with '${shown}' behind it became null`);
      out[wordAt] = 'null';
    } else tell(`'${shown}' behind a value was left out`);
    at += found.length;
    before = 'value';
  }

  /** A comma, or the end of an object or a list. */
  function separator(char: string): void {
    const isEnd = char !== ',';
    if (before === 'colon') {
      tell('Missing value became null');
      out.push('null');
    }
    if (before === 'comma') {
      tell('A comma too many was left out');
      out[commaAt] = '';
    }
    commaAt = out.length;
    out.push(char);
    at += 1;
    if (isEnd) depth -= 1;
    before = isEnd ? 'value' : 'comma';
    if (isEnd) wordAt = -1;
  }

  while (at < text.length) {
    const char = text[at]!;
    const run = take(BLANKS);
    if (run !== '') blanks(run);
    else if (before === 'value' && depth <= 0) {
      tell('Text behind the message was left out');
      break;
    } else if (char === '"') {
      string();
      before = 'value';
      wordAt = -1;
    } else if (char === ':') {
      out.push(char);
      at += 1;
      before = 'colon';
    } else if (char === '{' || char === '[') {
      out.push(char);
      at += 1;
      depth += 1;
      before = 'start';
    } else if (char === ',' || char === '}' || char === ']') separator(char);
    else word();
  }
  return { text: out.join(''), faults };
}
