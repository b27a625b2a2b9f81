import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Report } from './report.ts';
import { type Session, Unanswered } from './session.ts';
import type { Property } from './tool.ts';

/** Microseconds within which a proposal can be confirmed. */
const VALID_MICROS = 300_000_000;

/** The effect of a change, in numbers. A confirmation is refused when they are not the same any more. */
export type Effect = Readonly<Record<string, number>>;

/** A look at what a change would do now. */
export interface Look {
  effect: Effect;
  /** Facts that the person should know before they agree, beside the numbers. */
  lines: readonly (string | false | null)[];
}

/** The parts that a proposal is bound to. */
interface Bound {
  tool: string;
  /** The arguments, without the proposal. */
  given: object;
}

interface Change<Seen extends Look> extends Bound {
  proposal: string | undefined;
  /** The change in a few words. */
  what: string;
  look(): Promise<Seen>;
  /** Carries it out, and tells what was done. `key` is the same for each confirmation of one proposal. */
  act(seen: Seen, key: string): Promise<readonly string[]>;
}

export const PROPOSAL: Property = {
  type: 'string',
  maxLength: 400,
  description: 'The proposal of the first call, to confirm it: only when the person has agreed.',
};

/**
 * Carries out a change in two calls. The first one changes nothing and answers a proposal; the second one has the proposal
 * and the same arguments. A proposal needs no memory: it is signed with a key that comes from the token of the caller, over
 * the tool, the application, the arguments, the effect and the end. So it is good with this token only, at every node, and
 * after a restart. A program that has the token could sign one, and could call the API without one: the two steps are for assistants,
 * which never see the token.
 */
export async function inTwoSteps<Seen extends Look>(
  session: Session,
  report: Report,
  change: Change<Seen>,
): Promise<void> {
  const { proposal, what, tool } = change;
  if (proposal === undefined) {
    const { effect, lines } = await change.look();
    const until = session.now() + VALID_MICROS;
    report.say(
      `Proposal, nothing was changed: ${what}.`,
      `Effect: ${wordsOf(effect)}.`,
      ...lines,
      `To carry it out, show this to the person, and if they agree call ${tool} again with the same arguments and`,
      `proposal=${sign(session, change, { until, effect, nonce: session.nonce() })}`,
      'It is valid for 5 minutes.',
    );
    return;
  }
  const known = read(session, change, proposal);
  const { lines, isRepeated } = await session.once(known.nonce, async () => {
    const seen = await change.look();
    if (wordsOf(seen.effect) !== wordsOf(known.effect)) {
      throw new Unanswered(
        `Refused, nothing was changed: the effect is another one now. In the proposal: ${wordsOf(known.effect)}. Now: ${wordsOf(seen.effect)}. Make a new proposal, and show it to the person.`,
      );
    }
    return change.act(seen, `assistant-${known.nonce}`);
  });
  report.say(...lines, isRepeated && 'It was confirmed before, and is done once: this is the first answer.');
}

interface Signed {
  until: number;
  effect: Effect;
  nonce: string;
}

const wordsOf = (effect: Effect): string =>
  Object.entries(effect)
    .map(([name, number]) => `${name} ${number}`)
    .join(', ');

function macOf(session: Session, { tool, given }: Bound, { until, effect, nonce }: Signed): Buffer {
  const text = JSON.stringify([tool, session.applicationId ?? null, ordered(given), until, effect, nonce]);
  return createHmac('sha256', session.tokenKey).update(text).digest().subarray(0, 18);
}

function sign(session: Session, change: Bound, signed: Signed): string {
  const effect = Buffer.from(JSON.stringify(signed.effect)).toString('base64url');
  return [signed.until.toString(36), effect, signed.nonce, macOf(session, change, signed).toString('base64url')].join(
    '.',
  );
}

/** Reads a proposal back. Throws Unanswered for one that is not of this token, tool and arguments, or too old. */
function read(session: Session, change: Bound, proposal: string): Signed {
  const [end = '', effect = '', nonce = '', mac = '', ...rest] = proposal.split('.');
  const given = Buffer.from(mac, 'base64url');
  let signed: Signed | undefined;
  try {
    signed = {
      until: Number.parseInt(end, 36),
      effect: JSON.parse(Buffer.from(effect, 'base64url').toString()),
      nonce,
    };
  } catch {
    // It is no proposal of this service, as the check below says.
  }
  const wanted = signed && macOf(session, change, signed);
  if (!signed || !wanted || rest.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new Unanswered(
      'Refused, nothing was changed: the proposal is not of this token, this tool and exactly these arguments. Make a new one.',
    );
  }
  if (session.now() > signed.until)
    throw new Unanswered('Refused, nothing was changed: the proposal is older than 5 minutes. Make a new one.');
  return signed;
}

/** The same value with the members of all objects in order, because an assistant may write them in another one. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, ordered(member)]),
  );
}
