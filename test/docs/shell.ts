/**
 * Reads a text for a shell into its simple commands, each as its words without quotes. Comments and redirections are
 * left out. A command in `$( )` is a command of its own, and stands before the one that it is part of, where `$()` stands
 * for it.
 */
export function commandsOf(text: string): string[][] {
  const scanner = { text, at: 0 };
  return read(scanner, '');
}

interface Scanner {
  text: string;
  at: number;
}

/** Reads to the end of the text, or to the parenthesis that ends a command. */
function read(scanner: Scanner, end: string): string[][] {
  const { text } = scanner;
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  let isTarget = false; // the next word is the file of a redirection

  const endWord = (): void => {
    if (word !== undefined && !isTarget) words.push(word);
    if (word !== undefined) isTarget = false;
    word = undefined;
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  const substitute = (): void => {
    scanner.at += 2;
    commands.push(...read(scanner, ')'));
    word = `${word ?? ''}$()`;
  };
  /** Takes what is between quotes; in double quotes there may be a command. */
  const quote = (mark: string): void => {
    word ??= '';
    for (scanner.at += 1; text[scanner.at] !== mark && scanner.at < text.length; scanner.at += 1) {
      if (mark === '"' && text.startsWith('$(', scanner.at)) substitute();
      else word += text[scanner.at];
    }
  };

  for (; scanner.at < text.length; scanner.at += 1) {
    const character = text[scanner.at]!;
    if (character === end) break;
    if (character === "'" || character === '"') quote(character);
    else if (text.startsWith('$(', scanner.at)) substitute();
    else if (character === '\\') scanner.at += 1;
    else if (character === '#' && word === undefined) {
      while (scanner.at + 1 < text.length && text[scanner.at + 1] !== '\n') scanner.at += 1;
    } else if (character === ' ') endWord();
    else if (character === '<' || character === '>') {
      endWord();
      isTarget = true;
    } else if ('\n;|&'.includes(character)) endCommand();
    else word = `${word ?? ''}${character}`;
  }
  endCommand();
  return commands;
}
