import { isExactNumber } from './exact-json.ts';
import { HIDDEN, isSecretName } from './secret-names.ts';

/** Levels of nested values that are searched for secrets; deeper levels are hidden as a whole. */
const DEEPEST = 100;

const isSpace = (sign: string | undefined): boolean => sign === ' ' || sign === '\t' || sign === '\n' || sign === '\r';
const isQuote = (sign: string | undefined): boolean => sign === '"' || sign === "'";

function isNameSign(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  const letter = code | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x2d;
}

function skip(text: string, at: number, is: (sign: string) => boolean): number {
  let end = at;
  while (end < text.length && is(text[end]!)) end += 1;
  return end;
}
const skipSpaces = (text: string, at: number): number => skip(text, at, isSpace);
const skipBackslashes = (text: string, at: number): number => skip(text, at, (sign) => sign === '\\');
const isLineEnd = (sign: string): boolean => sign === '\n' || sign === '\r';
const endsUrl = (sign: string): boolean => isSpace(sign) || isQuote(sign) || sign === '<' || sign === '>';

/** Decodes the JSON escapes in a name, since any of its characters may be written as one. */
const nameOf = (text: string): string =>
  text.includes('\\u')
    ? text.replaceAll(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;

/**
 * Finds the position after the closing quote of a quoted text. `escapes` is the number of backslashes before its
 * opening quote: JSON inside a JSON text has one before each quote, JSON inside that has three. An unclosed quoted text
 * ends where the text around it ends.
 */
function endOfQuoted(text: string, from: number, sign: string, escapes: number): number {
  let at = from;
  while (at < text.length) {
    const end = skipBackslashes(text, at);
    const backslashes = end - at;
    if (text[end] === sign && (backslashes < escapes || backslashes % (2 * (escapes + 1)) === escapes)) {
      return backslashes < escapes ? at : end + 1;
    }
    at = end + 1;
  }
  return text.length;
}

/** Finds the position after an object or a list, which may be cut off before its end. */
function endOfNested(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const quote = skipBackslashes(text, at);
    if (isQuote(text[quote])) {
      at = endOfQuoted(text, quote + 1, text[quote]!, quote - at);
      continue;
    }
    at = Math.max(quote, at);
    if (text[at] === '[' || text[at] === '{') depth += 1;
    if (text[at] === ']' || text[at] === '}') depth -= 1;
    at += 1;
    if (depth <= 0) return at;
  }
  return text.length;
}

/**
 * Copies a text without its secrets, from left to right. It looks at each character a bounded number of times, whatever
 * the text is: JSON, the beginning of JSON, JSON inside JSON texts, parameters, headers, or anything else.
 */
class Scan {
  readonly #text: string;
  readonly #most: number;
  #at = 0;
  /** The position in the text up to which `#out` has the result. */
  #written = 0;
  #out = '';
  /** The position after the last quotation mark that was read. */
  #quoted = 0;

  constructor(text: string, most: number) {
    this.#text = text;
    this.#most = most;
  }

  /** Writes `instead` in place of the text between two positions. */
  #replace(from: number, to: number, instead: string): void {
    this.#out += this.#text.slice(this.#written, from) + instead;
    this.#written = to;
    this.#at = to;
  }

  /** Hides the value behind a secret name. `behind` is the position after the colon or equals sign. */
  #hideValue(behind: number, quote: string, isParameter: boolean): void {
    const text = this.#text;
    const from = skipSpaces(text, behind);
    const opening = skipBackslashes(text, from);
    const sign = text[opening];
    this.#at = from;
    if (from === text.length) return;
    if (isQuote(sign)) {
      const opened = text.slice(from, opening + 1);
      const end = endOfQuoted(text, opening + 1, sign!, opening - from);
      this.#replace(from, end, `${opened}${HIDDEN}${opened}`);
    } else if (sign === '[' || sign === '{') {
      this.#replace(from, endOfNested(text, from), `${quote}${HIDDEN}${quote}`);
    } else if (!text.startsWith('null', from) || isNameSign(text, from + 4)) {
      this.#replace(from, this.#endOfBare(from, quote, isParameter), `${quote}${HIDDEN}${quote}`);
    } else {
      this.#at = from + 4;
    }
  }

  /**
   * Finds the end of a value without quotes. In an object the value ends where the next member begins. As a parameter
   * it ends also at a space. As the value of a header it is the rest of the line.
   */
  #endOfBare(from: number, quote: string, isParameter: boolean): number {
    const isBehind = (sign: string): boolean => {
      if (isLineEnd(sign) || isQuote(sign)) return true;
      if (quote !== '') return sign === ',' || sign === '}' || sign === ']';
      return isParameter && (isSpace(sign) || sign === '&' || sign === ';' || sign === ',');
    };
    const end = skip(this.#text, from, (sign) => !isBehind(sign));
    return isQuote(this.#text[end]) ? this.#withoutBackslashes(from, end) : end;
  }

  #withoutBackslashes(from: number, end: number): number {
    let before = end;
    while (before > from && this.#text[before - 1] === '\\') before -= 1;
    return before;
  }

  /** Handles a quotation mark: the text before it may be a secret name, whose value must be hidden. */
  #quote(backslashes: number): void {
    const text = this.#text;
    const end = this.#at + backslashes + 1;
    const colon = skipSpaces(text, end);
    const name = text[colon] === ':' ? nameOf(text.slice(this.#quoted, this.#at)) : '';
    const quote = text.slice(this.#at, end);
    this.#quoted = end;
    this.#at = end;
    if (name !== '' && isSecretName(name)) {
      this.#hideValue(colon + 1, quote, false);
      this.#quoted = this.#at;
    }
  }

  /** Handles a word: it may be a secret name without quotes, or the scheme of a URL that holds a secret. */
  #word(): void {
    const text = this.#text;
    const from = this.#at;
    let end = from + 1;
    while (isNameSign(text, end)) end += 1;
    this.#at = end;
    if (text[end] === ':') {
      const host = this.#behindSlashes(end + 1);
      if (host > 0) {
        this.#url(host, /^https?$/i.test(text.slice(from, end)));
        return;
      }
    }
    const behind = skipSpaces(text, end);
    const sign = text[behind];
    if ((sign === ':' || sign === '=') && isSecretName(text.slice(from, end))) {
      this.#hideValue(behind + 1, '', sign === '=');
    }
  }

  /**
   * Finds the position after `//`, which some programs write with backslashes in JSON. Returns 0 when there is none.
   */
  #behindSlashes(from: number): number {
    const first = skipBackslashes(this.#text, from);
    if (this.#text[first] !== '/') return 0;
    const second = skipBackslashes(this.#text, first + 1);
    return this.#text[second] === '/' ? second + 1 : 0;
  }

  /** Hides the password of a URL, and in an http or https URL the query, because it may hold a signature. */
  #url(host: number, isWeb: boolean): void {
    const text = this.#text;
    const authority = skip(text, host, (sign) => !endsUrl(sign) && sign !== '/' && sign !== '?' && sign !== '#');
    const name = text.slice(host, authority);
    const colon = name.indexOf(':');
    const sign = name.lastIndexOf('@');
    if (colon !== -1 && sign > colon) this.#replace(host + colon + 1, host + sign, HIDDEN);
    this.#at = authority;
    if (!isWeb) return;
    const path = skip(text, authority, (sign) => !endsUrl(sign) && sign !== '?');
    this.#at = this.#withoutBackslashes(authority, path);
    if (text[path] !== '?') return;
    const end = this.#withoutBackslashes(
      path + 1,
      skip(text, path + 1, (sign) => !endsUrl(sign)),
    );
    this.#replace(path + 1, end, HIDDEN);
  }

  run(): string {
    const text = this.#text;
    while (this.#at < text.length && this.#out.length + (this.#at - this.#written) < this.#most) {
      if (isNameSign(text, this.#at)) {
        this.#word();
        continue;
      }
      const backslashes = text[this.#at] === '\\' ? skipBackslashes(text, this.#at) - this.#at : 0;
      if (isQuote(text[this.#at + backslashes])) this.#quote(backslashes);
      else this.#at += backslashes || 1;
    }
    return this.#out + text.slice(this.#written, this.#at);
  }
}

/**
 * Removes the secrets of a text: values of secret names, passwords in URLs, and queries of URLs. The result has about
 * `most` characters at most.
 */
export const textWithoutSecrets = (text: string, most: number = Number.POSITIVE_INFINITY): string =>
  new Scan(text, most).run();

/**
 * Removes the secrets of a JSON value, at any depth: members whose name is secret by `isSecret` are hidden. Values that
 * are neither lists nor plain objects stay as they are.
 */
export function withoutSecrets<Value>(value: Value, isSecret = isSecretName, depth = 0): Value {
  if (typeof value === 'string') return textWithoutSecrets(value) as Value;
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
  const isList = Array.isArray(value);
  const prototype: unknown = isList ? null : Object.getPrototypeOf(value);
  if (!isList && prototype !== null && prototype !== Object.prototype) return value;
  if (depth >= DEEPEST) return HIDDEN as Value;
  if (isList) return value.map((item: unknown) => withoutSecrets(item, isSecret, depth + 1)) as Value;
  const members = Object.entries(value).map(([name, member]: [string, unknown]) => [
    name,
    isSecret(name) && member !== null ? HIDDEN : withoutSecrets(member, isSecret, depth + 1),
  ]);
  return Object.fromEntries(members) as Value;
}
