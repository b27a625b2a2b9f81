// Characters that JSON.stringify leaves as they are, although a terminal would obey them or show the text in another order.
const OBEYED = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Writes a value as JSON that is safe to show on a terminal. It means the same: such characters are escaped. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    OBEYED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
