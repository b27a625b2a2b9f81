// JSON.parse with source text access (ES2026); TypeScript does not know it yet. Older browsers and Node 20, where the typed
// client runs too, do not have it: there, JavaScript rounds such numbers.
type Reviver = (this: unknown, name: string, value: unknown, context: { source?: string }) => unknown;
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON?(text: string): object;
  isRawJSON?(value: unknown): boolean;
};

/** Whether a value is a number that is kept as it was written. */
export const isExactNumber = (value: unknown): boolean => isRawJSON?.(value) ?? false;

// Characters of the longest number that is kept as it was written; other JSON parsers refuse much longer ones.
const LONGEST = 400;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
/** Whether a character can be inside a number: a digit, or one of `+-.eE`. */
const isOfNumber = (code: number): boolean =>
  isDigit(code) || code === 0x2b || code === 0x2d || code === 0x2e || code === 0x45 || code === 0x65;

/** Whether JavaScript would write a number in another way. */
const changes = (source: string): boolean => source.length <= LONGEST && String(Number(source)) !== source;

function endOfString(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** Whether a JSON text has a number that JavaScript would write in another way. Nearly every text has none. */
function hasOtherNumbers(text: string): boolean {
  if (!rawJSON) return false;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at + 1);
    else if (code === 0x2d || isDigit(code)) {
      const start = at;
      while (isOfNumber(text.charCodeAt(at))) at += 1;
      if (changes(text.slice(start, at))) return true;
    } else at += 1;
  }
  return false;
}

const kept: Reviver = (_name, value, { source }) =>
  typeof value === 'number' && source !== undefined && changes(source) ? rawJSON!(source) : value;

/**
 * Parses JSON so that JSON.stringify writes each number as it was written: 12345678901234567890, 1e400, -0, 1.0. A number
 * that JavaScript would change is an object (JSON.rawJSON), so this is only for values that are passed on unread. A text
 * without such a number costs one scan more than JSON.parse.
 */
export const parseExact = (text: string): unknown => (hasOtherNumbers(text) ? parse(text, kept) : JSON.parse(text));

/** The lists of a document that lack items of its text, with the positions that their items have there. */
type Shortened = ReadonlyMap<object, readonly number[]>;

/** Puts the numbers of `exact` into `value`, which is the same document, maybe without some of its members and items. */
function withNumbers(value: unknown, exact: unknown, shortened: Shortened): unknown {
  if (typeof value === 'number') return isExactNumber(exact) ? exact : value;
  if (typeof value !== 'object' || value === null || typeof exact !== 'object' || exact === null) return value;
  const [into, from] = [value, exact] as [Record<string, unknown>, Record<string, unknown>];
  const positions = shortened.get(value);
  for (const name of Object.keys(into)) {
    const there = positions ? String(positions[Number(name)]) : name;
    into[name] = withNumbers(into[name], from[there], shortened);
  }
  return value;
}

/**
 * Changes members of a document that was parsed from the text, so that JSON.stringify writes their numbers as they were
 * written. Only members that are passed on unread may be named.
 */
export function keepNumbers(
  document: object,
  { text, members, shortened }: { text: string; members: readonly string[]; shortened: Shortened },
): void {
  const into = document as Record<string, unknown>;
  const present = members.filter((name) => Object.hasOwn(into, name));
  if (present.length === 0 || !hasOtherNumbers(text)) return;
  let exact: Record<string, unknown>;
  try {
    exact = parse(text, kept) as Record<string, unknown>;
  } catch {
    return; // nested too deep for a reviver, so the members were left out of the document
  }
  for (const name of present) into[name] = withNumbers(into[name], exact[name], shortened);
}
