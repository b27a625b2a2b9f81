import { CASES } from '../device-test/cases.ts';
import { type CaseRecord, type DeviceTestRecord, shownConnection } from '../device-test/device-test-record.ts';
import { plainRule, RULES, type Rule, type RuleName } from '../device-test/rules.ts';
import { type Certificate, certify, type Evidence } from './certificate.ts';

const TEXTS = Object.fromEntries((Object.keys(RULES) as RuleName[]).map((name) => [name, plainRule(name)]));

/** The outcome of a case for one of its rules. A case that breaks another rule says nothing of this one. */
function outcomeFor(rule: RuleName, { outcome, findings }: CaseRecord): Evidence['outcome'] {
  if (findings.some((finding) => finding.rule === rule)) return 'broken';
  return outcome === 'holds' ? 'holds' : 'not seen';
}

function evidenceOf(rule: RuleName, cases: readonly CaseRecord[]): Evidence[] {
  const looked = cases.filter(
    ({ name, findings }) =>
      CASES[name]?.rules.includes(rule) === true || findings.some((finding) => finding.rule === rule),
  );
  return looked.map((one) => ({
    name: one.name,
    outcome: outcomeFor(rule, one),
    shown: one.shown,
    story: one.findings
      .filter((finding) => finding.rule === rule)
      .flatMap(({ expected, came, story }) => [`expected: ${expected}`, `came: ${came}`, ...story]),
  }));
}

/** The rules of MQTT 5 are not about a device that speaks MQTT 3.1.1. */
function applies(rule: RuleName, { connection }: DeviceTestRecord): boolean {
  const { level }: Rule = RULES[rule];
  return level !== 5 || connection?.version === '5';
}

/** The report of a test of a device, with the evidence for each rule of docs/devices.md. */
export function certificateOfDevice(record: DeviceTestRecord): Certificate {
  const { deviceId, firmwareVersion, managementClientVersion, seed, startedAt, milliseconds, cases } = record;
  return certify({
    tested: 'device',
    subject: { deviceId, firmwareVersion, managementClientVersion, connection: shownConnection(record) },
    rules: TEXTS,
    evidenceOf: (rule) => evidenceOf(rule as RuleName, cases),
    applies: (rule) => applies(rule as RuleName, record),
    seed,
    startedAt,
    milliseconds,
  });
}
