import { Readable } from 'node:stream';
import { DomainError, errorBody, toDomainError } from '@lapel/schemas/contracts/errors';
import { type ImportLine, readerOf } from '@lapel/schemas/imports/import-lines';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer, Input } from '../http/route.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'devices' | 'developers' | 'contracts' | 'log'>;

/**
 * Lines whose devices are registered at the same time and so share commits. Besides these lines only the buffers of the
 * sockets are in memory, however long the file is.
 */
const LINES_AT_ONCE = 200;

/**
 * Registers devices, each from a line of NDJSON or CSV, and answers each line when it is done. A faulty line does not
 * affect others. A line with the values of an existing device, credential included, is answered as if the device were
 * new, so an import that broke off can be sent again unchanged.
 */
export async function importDevices(
  { devices, developers, contracts, log }: Services,
  { params, headers, stream, changed }: Input<{ developerId: string }>,
): Promise<Answer> {
  const { developerId } = params;
  await developers.find(developerId);
  const read = readerOf(headers['content-type']);
  if (!read) {
    const msg = "Input should be 'application/x-ndjson' or 'text/csv'";
    throw DomainError.invalid({ loc: ['header', 'Content-Type'], msg, type: 'enum' });
  }

  const count = { registered: 0, refused: 0 };

  async function register(given: ImportLine): Promise<object> {
    const { line } = given;
    try {
      if ('fault' in given) throw DomainError.invalid({ loc: ['body'], msg: given.fault, type: 'json_invalid' });
      const device = contracts.check('admin/device-register', given.value, 'body');
      const registered = await devices.registerOnce({ developerId, ...device });
      count.registered += 1;
      return { line, ...registered };
    } catch (thrown) {
      const error = toDomainError(thrown);
      count.refused += 1;
      if (error.code === 'INTERNAL') log.error({ err: thrown, line }, 'a device of an import could not be registered');
      return { line, error: errorBody(error) };
    }
  }

  async function* answers(): AsyncIterable<string> {
    let batch: Promise<object>[] = [];
    const written = async (): Promise<string> => {
      const done = await Promise.all(batch);
      batch = [];
      return done.map((one) => `${JSON.stringify(one)}\n`).join('');
    };
    try {
      for await (const line of read!(stream)) {
        batch.push(register(line));
        if (batch.length >= LINES_AT_ONCE) yield await written();
      }
      if (batch.length > 0) yield await written();
    } finally {
      await Promise.all(batch); // waits for the registrations in progress, also when the import broke off
      await changed(count);
    }
  }

  return {
    status: 200,
    headers: { ...NO_STORE, 'Content-Type': 'application/x-ndjson' },
    body: Readable.from(answers()),
  };
}
