import { plainText } from '../plain-text.ts';
import { clock } from '../show.ts';
import type { Certificate, RuleOutcome } from './certificate.ts';

const WORDS: Readonly<Record<RuleOutcome['outcome'], string>> = {
  holds: 'OK',
  broken: 'NOT OK',
  'not seen': 'not seen',
  'does not apply': 'no matter',
};
const WHOLE: Readonly<Record<Certificate['outcome'], string>> = {
  passed: 'passed: each rule that applies was seen to hold',
  failed: 'failed: a rule was broken',
  incomplete: 'incomplete: no rule was broken, and some were not seen',
};

/** The lines of facts or of rules; texts of the device are made plain. */
function lines(rows: readonly (readonly [left: string, right: string])[]): string[] {
  const width = Math.max(10, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${plainText(left).padEnd(width)}  ${plainText(right)}`);
}

/** A signed report for people. `keyId` is that of the key with which it was checked. */
export function certificateText(certificate: Certificate, keyId: string): string {
  const { tested, subject, release, rulesDigest, startedAt, milliseconds, outcome, rules } = certificate;
  const facts = [
    ['Signed by', keyId],
    ['Tested', tested],
    ...Object.entries(subject),
    ['Started', `${startedAt} (the clock of the tester), ${clock(milliseconds)}`],
    ['Rules', `of Lapel ${release}, ${rulesDigest.slice(0, 16)}`],
    ['Outcome', WHOLE[outcome]],
  ] as const;
  const broken = rules.flatMap(({ name, evidence }) =>
    evidence
      .filter((one) => one.outcome === 'broken')
      .flatMap((one) => [`${name}, in ${one.name}:`, ...one.story.map((text) => `  ${text}`)]),
  );
  return [
    ...lines(facts),
    '',
    ...lines(rules.map(({ name, text, outcome: of }) => [WORDS[of], `${name}: ${text}`])).map((text) => `  ${text}`),
    ...(broken.length > 0 ? ['', ...broken.map(plainText)] : []),
    '',
  ].join('\n');
}
