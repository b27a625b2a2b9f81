import type { Signal } from '@preact/signals';
import { button, type Child, div, p } from '../base/elements.ts';
import { choice, textField } from './fields.ts';
import { group, whole } from './rollout-fields.ts';

/** The first values of the fields of a stage. The number stays the same while other stages are removed. */
export interface StageRow {
  number: number;
  size: string;
  soak: string;
}

const SOAKS = [
  ['', 'nothing more'],
  ['600', '10 minutes more'],
  ['3600', '1 hour more'],
  ['21600', '6 hours more'],
  ['86400', '1 day more'],
  ['604800', '7 days more'],
] as const;
const MOST = 20;

const stage = ({ number, size, soak }: StageRow, index: number, remove: () => void): Child =>
  div(
    { key: number },
    group(
      `Stage ${index + 1}`,
      textField({ name: 'stageSize', label: 'Size', value: size, required: true }, whole(1, 100_000)),
      choice({ name: 'stageUnit', label: 'of', value: 'percent' }, [
        ['percent', '% of the devices'],
        ['count', 'devices'],
      ]),
      textField(
        {
          name: 'stageSucceeded',
          label: 'Successes wanted, in %',
          value: '95',
          hint: 'Empty: 95.',
        },
        whole(0, 100),
      ),
      choice({ name: 'stageSoak', label: 'and then', value: soak }, SOAKS),
      choice({ name: 'stageApproval', label: 'Approval', value: '' }, [
        ['', 'not needed'],
        ['true', 'must be approved'],
        ['other', 'by another person'],
      ]),
      div({ class: 'aside' }, button({ type: 'button', class: 'tiny', onClick: remove }, `Remove stage ${index + 1}`)),
    ),
  );

/** The fields of the stages, which can be added and removed. The devices that no stage takes make a last one. */
export const stageFields = (rows: Signal<readonly StageRow[]>): Child => {
  const remove = (number: number): void => {
    rows.value = rows.value.filter((one) => one.number !== number);
  };
  const add = (): void => {
    const number = Math.max(0, ...rows.value.map((one) => one.number)) + 1;
    rows.value = [...rows.value, { number, size: '20', soak: '3600' }];
  };
  return div(
    { class: 'stack' },
    rows.value.map((row, index) => stage(row, index, () => remove(row.number))),
    p(
      { class: 'quiet small' },
      rows.value.length === 0 ? 'All devices are one stage.' : 'All other devices make the last stage.',
    ),
    rows.value.length >= MOST
      ? null
      : div(null, button({ type: 'button', class: 'tiny', onClick: add }, 'Add a stage')),
  );
};
