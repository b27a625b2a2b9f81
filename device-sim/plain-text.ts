// What moves the cursor, breaks a line or turns its direction, and what nobody sees.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** One line that shows what it holds: troubles quote what the service and customers wrote. */
export const plainText = (text: string): string =>
  text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
