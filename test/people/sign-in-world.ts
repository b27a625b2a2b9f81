import type { Test } from 'tap';
import { noteCode } from '../runs/received-codes.ts';
import { startWorld, type World } from '../world.ts';
import { startProvider, type TestProvider } from './test-provider.ts';

/** A service with two providers. */
interface Two {
  world: World;
  /** A provider with all claims in its ID tokens, and one that answers them at its userinfo endpoint. */
  company: TestProvider;
  other: TestProvider;
  /** Lets the providers know the address of the service, after a restart as well. */
  meet(): string;
}

interface Wanted {
  env?: Record<string, string>;
  nodes?: number;
  dataDir?: string;
  /** Other settings of `company`. */
  ofCompany?: object;
}

/** Starts a service whose people sign in through `company` or `other`. */
export async function startTwo(t: Test, { ofCompany, ...options }: Wanted = {}): Promise<Two> {
  const [company, other] = [await startProvider(t), await startProvider(t, { isConformant: true })];
  const providers = [company.settings('company', ofCompany), other.settings('other', { roleClaim: 'roles' })];
  const world = await startWorld(t, {
    ...options,
    env: { ...options.env, LAPEL_SIGN_IN_PROVIDERS: JSON.stringify(providers) },
  });
  const meet = (): string => {
    const { admin } = world.service.addresses;
    company.register(admin, 'company');
    other.register(admin, 'other');
    return admin;
  };
  meet();
  return { world, company, other, meet };
}

/** The code with which the service leads a browser to the console after a sign-in that has failed; null after a good one. */
export function reasonOf({ location }: { location: string }): string | null {
  const code = new URL(location).searchParams.get('signIn');
  if (code !== null) noteCode(code);
  return code;
}
