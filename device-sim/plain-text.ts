// Characters that move the cursor, break a line, turn its direction, or are invisible.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** One line with every special character made visible, because reports quote texts of the service and of customers. */
export const plainText = (text: string): string =>
  text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
