import { binaryWarnings } from '../http/binary-warnings.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, List } from './services.ts';

type Services = Pick<AdminServices, 'software' | 'formatTime'>;

/**
 * Lists the uploaded binaries that cannot be read as an APK, or whose manifest names another package or version than the
 * one they were uploaded for.
 */
export async function listBinaryWarnings({ software, formatTime }: Services, input: List): Promise<Answer> {
  const found = await software.inspection.warnings(input.query);
  return { status: 200, headers: nextPage(input, input.query, found.total), body: binaryWarnings(found, formatTime) };
}
