import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'objects'>;

/** Makes a new key of the embedded object store; at once, it ends all URLs of before. */
export async function renewObjectStoreKey(
  { objects }: Services,
  { body, changed }: At<never, 'admin/object-store-key-renew'>,
): Promise<Answer> {
  const { atOnce = false } = body ?? {};
  if (!objects.key) throw new DomainError('OBJECT_STORE_FOREIGN');
  objects.key.renew(atOnce);
  await changed({ atOnce });
  return { status: 204 };
}
