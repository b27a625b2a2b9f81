/** The most tokens of an answer of a tool. */
export const BUDGET = 2_000;

/**
 * Estimates the tokens of a text from above, as tokenizers of language models split it: four letters, three digits, and
 * each other sign. A blank belongs to the word behind it. Letters outside of ASCII count each.
 */
export function tokensOf(text: string): number {
  let tokens = 0;
  let kind = 0;
  let run = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const next = kindOf(code);
    if (next !== kind || next === OTHER || run === LENGTHS[next]) {
      kind = next;
      run = 0;
    }
    if (run === 0 && next !== BLANK) tokens += 1;
    run += 1;
  }
  return tokens;
}

const LETTER = 1;
const DIGIT = 2;
const OTHER = 3;
const BLANK = 4;
const LENGTHS = [0, 4, 3, 1, 0];

function kindOf(code: number): number {
  if (code === 32) return BLANK;
  if (code >= 48 && code <= 57) return DIGIT;
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122) ? LETTER : OTHER;
}
