import { ERRORS } from '@lapel/schemas/contracts/errors';

/** The code of an error, from its text: on its errors topic a device gets no code. */
export const codeOfText = (text: string): string | undefined =>
  Object.entries(ERRORS).find(([, row]) => {
    const [head = '', ...others] = row.text.split(/\{\w+\}/);
    const tail = others.at(-1) ?? '';
    return others.length === 0 ? text === head : head !== '' && text.startsWith(head) && text.endsWith(tail);
  })?.[0];
