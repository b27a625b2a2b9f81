// Characters that could deceive the reader of a text. `oneLine` replaces white space that breaks the line by a space,
// and shows the code of characters that move the cursor, change the direction of text, or are invisible, so that one
// name looks like another. A joiner is kept between emoji, and between letters of scripts that join.
const SPACES = /[\t\n\v\f\r]+/g;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}[\p{Default_Ignorable_Code_Point}--\p{Variation_Selector}]]/gv;
const JOINER = /[\u200c\u200d]/;
const JOINS =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]]]$/v;

/** Makes one line of a text that strangers wrote (descriptions, error messages), with all its characters visible. */
export function oneLine(text: string): string {
  return text
    .replace(SPACES, ' ')
    .replace(INVISIBLE, (character, at: number, line: string) =>
      JOINER.test(character) && JOINS.test(line.slice(Math.max(0, at - 2), at))
        ? character
        : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
}
