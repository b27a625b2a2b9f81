// What moves the cursor, breaks the line, or turns the direction of what follows; what nobody sees, so that one name looks
// like another. A joiner has a meaning between emoji, and between letters of scripts that join.
const SPACES = /[\t\n\v\f\r]+/g;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}[\p{Default_Ignorable_Code_Point}--\p{Variation_Selector}]]/gv;
const JOINER = /[\u200c\u200d]/;
const JOINS =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]]]$/v;

/** One line that shows what it holds, whatever others wrote into it (descriptions, error messages). */
export function oneLine(text: string): string {
  return text
    .replace(SPACES, ' ')
    .replace(INVISIBLE, (character, at: number, line: string) =>
      JOINER.test(character) && JOINS.test(line.slice(Math.max(0, at - 2), at))
        ? character
        : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
}
