import { createHash } from 'node:crypto';
import { ownVersion } from '@lapel/schemas/base/version';

/** A look at a rule: a case that was played, or a kind of webhook that was sent, and its outcome in words. */
export interface Evidence {
  readonly name: string;
  readonly outcome: 'holds' | 'broken' | 'not seen';
  readonly shown: string;
  /** The messages before a broken rule. */
  readonly story: readonly string[];
}

export interface RuleOutcome {
  readonly name: string;
  readonly text: string;
  /**
   * `not seen`: no case of it was played to its end. `does not apply`: it is about something that the device does not do,
   * such as MQTT 5.
   */
  readonly outcome: Evidence['outcome'] | 'does not apply';
  readonly evidence: readonly Evidence[];
}

/** The report of a test, which its tester signs. */
export interface Certificate {
  readonly tested: 'device' | 'receiver';
  /** Names the device or the receiver: its identifier, and its versions as it has reported them. */
  readonly subject: Readonly<Record<string, string>>;
  /** The release of the simulator, and the digest of the rules that it knows. */
  readonly release: string;
  readonly rulesDigest: string;
  readonly seed: number;
  /** ISO 8601 in UTC, by the clock of the tester. */
  readonly startedAt: string;
  readonly milliseconds: number;
  /** `passed`: each rule that applies was seen to hold. `incomplete`: none was broken, and some were not seen. */
  readonly outcome: 'passed' | 'failed' | 'incomplete';
  readonly rules: readonly RuleOutcome[];
}

const MOST_OF_A_SUBJECT = 200;

const digestOf = (rules: Readonly<Record<string, string>>): string =>
  createHash('sha256').update(JSON.stringify(rules)).digest('hex');

const outcomeOf = (evidence: readonly Evidence[]): Evidence['outcome'] => {
  if (evidence.some(({ outcome }) => outcome === 'broken')) return 'broken';
  return evidence.some(({ outcome }) => outcome === 'holds') ? 'holds' : 'not seen';
};

function wholeOutcome(rules: readonly RuleOutcome[]): Certificate['outcome'] {
  if (rules.some(({ outcome }) => outcome === 'broken')) return 'failed';
  return rules.some(({ outcome }) => outcome === 'not seen') ? 'incomplete' : 'passed';
}

/** Makes the report: `rules` has the text of each rule, and `evidence` what was seen of it. */
export function certify({
  rules: texts,
  evidenceOf,
  applies = () => true,
  subject,
  ...rest
}: Pick<Certificate, 'tested' | 'seed' | 'startedAt' | 'milliseconds'> & {
  rules: Readonly<Record<string, string>>;
  evidenceOf(rule: string): readonly Evidence[];
  /** Whether a rule is about this device or receiver; without it each rule is. */
  applies?: (rule: string) => boolean;
  subject: Readonly<Record<string, string | null>>;
}): Certificate {
  const rules = Object.entries(texts).map(([name, text]): RuleOutcome => {
    const evidence = evidenceOf(name);
    const outcome = outcomeOf(evidence);
    if (outcome === 'not seen' && !applies(name)) return { name, text, outcome: 'does not apply', evidence: [] };
    return { name, text, outcome, evidence };
  });
  // A device can name itself with a text of any length.
  const named = Object.entries(subject).flatMap(([name, value]) =>
    value === null ? [] : [[name, value.slice(0, MOST_OF_A_SUBJECT).toWellFormed()] as const],
  );
  return {
    ...rest,
    subject: Object.fromEntries(named),
    release: ownVersion(),
    rulesDigest: digestOf(texts),
    outcome: wholeOutcome(rules),
    rules,
  };
}
