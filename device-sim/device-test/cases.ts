import type { Random } from '../random.ts';
import { byHandCases } from './cases/by-hand-cases.ts';
import { cancelCases } from './cases/cancel-cases.ts';
import type { Case } from './cases/case.ts';
import { cutCases } from './cases/cut-cases.ts';
import { downloadCases } from './cases/download-cases.ts';
import { driveCases } from './cases/drive-cases.ts';
import { fiveCases } from './cases/five-cases.ts';
import { loginCases } from './cases/login-cases.ts';
import { messageCases } from './cases/message-cases.ts';
import { networkCases } from './cases/network-cases.ts';
import { operationCases } from './cases/operation-cases.ts';
import { orderCases } from './cases/order-cases.ts';
import { outageCases } from './cases/outage-cases.ts';
import { repetitionCases } from './cases/repetition-cases.ts';
import { signatureCases } from './cases/signature-cases.ts';
import { tlsCases } from './cases/tls-cases.ts';

/** All cases by their names, in the order of the documents. */
export const CASES: Readonly<Record<string, Case>> = {
  ...loginCases,
  ...tlsCases,
  ...operationCases,
  ...networkCases,
  ...orderCases,
  ...repetitionCases,
  ...cancelCases,
  ...cutCases,
  ...messageCases,
  ...fiveCases,
  ...downloadCases,
  ...signatureCases,
  ...driveCases,
  ...byHandCases,
  ...outageCases,
};

/** The order in which the named cases are played: `random` decides that of all but the first and the last ones. */
export function orderOf(names: readonly string[], random: Random): string[] {
  const at = (when: Case['when']): string[] => names.filter((name) => CASES[name]?.when === when);
  const between = at(undefined)
    .map((name) => ({ name, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ name }) => name);
  return [...at('first'), ...between, ...at('last')];
}
