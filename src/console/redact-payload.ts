/** Characters of a payload that are shown. */
export const SHOWN = 4096;
/** A longer one is not read as JSON: taking it apart would cost more than the look is worth. */
const LONGEST_JSON = 64 * 1024;
const HIDDEN = '••••';
const SECRET = /password|passphrase|secret|credential|token|authorization/i;
// What signs a URL is in its query.
const QUERY = /(\bhttps?:\/\/[^\s"'<>?]*)\?[^\s"'<>]*/gi;
// The member of an object whose name is secret, in text that is no JSON or not all of it.
const MEMBER =
  /("(?:[^"\\]|\\.)*(?:password|passphrase|secret|credential|token|authorization)(?:[^"\\]|\\.)*"\s*:\s*)("(?:[^"\\]|\\.)*"?|\[[^\]]*\]?|\{[^}]*\}?|[^,}\]]*)/gi;

const withoutQueries = (text: string): string => text.replace(QUERY, `$1?${HIDDEN}`);

function hide(value: unknown): unknown {
  if (typeof value === 'string') return withoutQueries(value);
  if (Array.isArray(value)) return value.map(hide);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    SECRET.test(name) && member !== null ? HIDDEN : hide(member),
  ]);
  return Object.fromEntries(members);
}

function hidden(text: string): string {
  if (text.length <= LONGEST_JSON) {
    try {
      return JSON.stringify(hide(JSON.parse(text)));
    } catch {
      // It is no JSON, or only its beginning.
    }
  }
  return withoutQueries(text.slice(0, LONGEST_JSON).replace(MEMBER, `$1"${HIDDEN}"`));
}

/** The text of a message for people who look on: no passwords, no URLs that are good without one, and not too long. */
export function shownPayload(payload: string | Buffer): { payload: string; truncated: boolean } {
  const bytes = typeof payload === 'string' ? payload : payload.subarray(0, LONGEST_JSON + 1).toString('utf8');
  const text = hidden(bytes);
  const truncated = text.length > SHOWN || payload.length > LONGEST_JSON;
  return { payload: text.slice(0, SHOWN).toWellFormed(), truncated };
}
