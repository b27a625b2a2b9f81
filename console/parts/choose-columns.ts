import { button, type VNode } from '../base/elements.ts';
import { hiddenOf, hide } from '../base/hidden-columns.ts';
import { ask } from './dialog.ts';
import { tick } from './fields.ts';
import type { Column } from './table.ts';

/** Asks which columns of a table are shown. The column that identifies a row, and that of its actions, always are. */
function choose<Row>(label: string, columns: readonly Column<Row>[]): void {
  const names = columns.filter(({ name, kind }) => name !== '' && kind !== 'lead').map(({ name }) => name);
  const hidden = hiddenOf(label);
  ask({
    title: 'Choose the columns',
    text: 'The choice is kept in this browser.',
    fields: names.map((name) => tick({ name, label: name }, !hidden.includes(name))),
    does: 'Show these',
    act(data) {
      hide(
        label,
        names.filter((name) => !data.has(name)),
      );
      return Promise.resolve('The columns were chosen.');
    },
  });
}

/** The button with which the user chooses the columns of the table with this label. */
export const columnsButton = <Row>(label: string, columns: readonly Column<Row>[]): VNode =>
  button({ type: 'button', class: 'tiny', onClick: () => choose(label, columns) }, 'Columns');
