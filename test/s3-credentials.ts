/** The credentials of the object stores of tests. */
export const S3_CREDENTIALS = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret of the test' };

/** Sets the credentials where the service looks for them. They are the same for all tests, because these share a process. */
export function useS3Credentials(): void {
  process.env['AWS_ACCESS_KEY_ID'] = S3_CREDENTIALS.accessKeyId;
  process.env['AWS_SECRET_ACCESS_KEY'] = S3_CREDENTIALS.secretAccessKey;
}
