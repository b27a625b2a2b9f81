import { signal } from '@preact/signals';
import { type Child, div, li, p, strong, ul, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { RequestError, type Seen } from '../base/requests.ts';
import { ask, Told } from './dialog.ts';

/** The fields of an object that a form changes, by their names for people. */
type Shown = Readonly<Record<string, string | number | null>>;

interface Changing<Value> {
  title: string;
  text?: Child;
  /** The value that the form shows at first, with the tag of its state. */
  seen: Seen<Value>;
  fields(value: Value): Child;
  does: string;
  /**
   * Sends what the fields change in `value`; the service refuses it when the state is no longer that of `tag`. Returns
   * false when nothing differs.
   */
  send(data: FormData, seen: Seen<Value>): Promise<boolean>;
  /** Reads the value again. */
  read(): Promise<Seen<Value>>;
  /** The fields of the value, to say what somebody else has changed. */
  shown(value: Value): Shown;
  /** Finds out who has changed it; null where that cannot be known. */
  who?(): Promise<Child>;
  done(): string;
}

const words = (value: string | number | null | undefined): string =>
  value === null || value === undefined || value === '' ? 'nothing' : visible(String(value)).slice(0, 200);

/** Says what somebody else has changed since the form was opened. */
function overtaken(before: Shown, after: Shown, who: Child): VNode {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => before[name] !== after[name]);
  return div(
    { class: 'note warn stack tight', role: 'alert' },
    p(null, 'Somebody else has changed this while the form was open, so nothing was sent.', who ? [' ', who] : null),
    ul(
      { class: 'stack tight' },
      changed.map((name) =>
        li(
          { key: name, class: 'wrap' },
          strong(null, visible(name)),
          `: ${words(before[name])} → ${words(after[name])}`,
        ),
      ),
    ),
    p(null, 'Your input is still here. Send it again to change it on top of that.'),
  );
}

/**
 * Asks for changes of something that another user may be changing at the same time. If so, the dialog stays open and says
 * what has changed. Fields in which nothing was typed then show the new values, so only what the user has typed is sent.
 */
export function askForChange<Value>(change: Changing<Value>): void {
  const seen = signal(change.seen);
  const Fields = (): Child => change.fields(seen.value.value);
  ask({
    title: change.title,
    text: change.text,
    fields: use(Fields, {}),
    does: change.does,
    async act(data) {
      try {
        return (await change.send(data, seen.peek())) ? change.done() : undefined;
      } catch (error) {
        if (!(error instanceof RequestError && error.status === 412)) throw error;
        const before = change.shown(seen.peek().value);
        const [next, who] = await Promise.all([change.read(), change.who?.().catch(() => null) ?? null]);
        seen.value = next;
        throw new Told(overtaken(before, change.shown(next.value), who));
      }
    },
  });
}
