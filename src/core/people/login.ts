import { hashSecret } from '../../runtime/secret-hash.ts';

/** The identity of a person at a provider of sign-ins. */
export interface Login {
  issuer: string;
  subject: string;
  /** False after a sign-in at which the provider gave the person no role; the person is then disabled. */
  hasRole: boolean;
}

/** The hash by which a person of a provider is found. */
export const loginHashOf = ({ issuer, subject }: Pick<Login, 'issuer' | 'subject'>): Buffer =>
  hashSecret(JSON.stringify([issuer, subject]));
