import { jsonText } from './json-text.ts';
import { type Look, lookOf, render, type Text } from './look.ts';
import { createScreen, type Screen, type Terminal } from './terminal.ts';

/** Reports the events of a running command: one JSON object per line for scripts, text for people. */
export interface Teller {
  look: Look;
  screen: Screen;
  tell(event: object, text: Text): void;
}

export function createTeller(json: boolean, { stdout, stderr, env }: Terminal): Teller {
  const look = lookOf(stdout, env);
  // When both streams are terminals, they are the same screen. So text must be printed above the lines of progress,
  // which the screen knows.
  const shared = stdout.isTTY === true && stderr.isTTY === true;
  const screen = createScreen(stderr);
  return {
    look,
    screen,
    tell(event, text) {
      if (json) stdout.write(`${jsonText(event)}\n`);
      else if (shared) screen.line(render(text, look).replace(/\n$/, ''));
      else stdout.write(render(text, look));
    },
  };
}
