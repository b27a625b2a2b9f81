import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import t from 'tap';
import { startEmbedded } from './stores.ts';

const KEY = 'packages/com.example.camera/1.0.0.apk';

await t.test('a feature of S3 that the store lacks is refused by its name', async (t) => {
  const { endpoint, region, credentials, store } = await startEmbedded(t);
  const { url } = await store.uploadUrl(KEY, { expiresIn: 600 });
  const plain = { requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' } as const;
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true, ...plain });
  t.teardown(() => client.destroy());
  const at = { Bucket: 'lapel', Key: KEY };
  const refused = async (asked: Promise<unknown>, name: RegExp) =>
    t.rejects(asked, { name: 'NotImplemented', message: name, $metadata: { httpStatusCode: 501 } });
  await client.send(new PutObjectCommand({ ...at, Body: 'x' }));
  await refused(client.send(new GetBucketLocationCommand({ Bucket: 'lapel' })), /^location is not implemented/);
  await refused(client.send(new CreateBucketCommand({ Bucket: 'lapel' })), /^Operations on buckets are not/);
  await refused(client.send(new ListObjectsV2Command({ Bucket: 'lapel' })), /^list-type is not/);
  await refused(client.send(new CopyObjectCommand({ ...at, CopySource: `lapel/${KEY}` })), /^x-amz-copy-source is not/);
  await refused(client.send(new CreateMultipartUploadCommand(at)), /^uploads is not/);
  await refused(client.send(new GetObjectCommand({ ...at, VersionId: '1' })), /^versionId is not/);
  await refused(client.send(new GetObjectTaggingCommand(at)), /^tagging is not/);
  await refused(client.send(new PutObjectCommand({ ...at, Body: 'y', Metadata: { a: 'b' } })), /^x-amz-meta-a is not/);
  await refused(client.send(new PutObjectCommand({ ...at, Body: 'y', ACL: 'private' })), /^x-amz-acl is not/);
  await refused(client.send(new PutObjectCommand({ ...at, Body: 'y', IfMatch: '"a"' })), /^if-match is not/);
  await refused(client.send(new PutObjectCommand({ ...at, Body: 'y', IfNoneMatch: '*' })), /^if-none-match is not/);
  await refused(client.send(new PutObjectCommand({ ...at, Body: 'y', ContentEncoding: 'br' })), /^content-encoding is/);
  await refused(client.send(new DeleteObjectCommand({ ...at, IfMatch: '"a"' })), /^if-match is not/);
  const date = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const scope = `${credentials.accessKeyId}/${date.slice(0, 8)}/${region}/s3/aws4_request`;
  for (const [target, headers, message] of [
    [url.replace('UNSIGNED-PAYLOAD', 'a'.repeat(64)), {}, 'Presigned requests must leave the payload unsigned.'],
    [
      url.split('?')[0]!,
      {
        'x-amz-date': date,
        'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
        authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=${'0'.repeat(64)}`,
      },
      'Signed chunks are not implemented.',
    ],
  ] as const) {
    const answer = await fetch(target, { method: 'PUT', body: 'y', headers });
    t.equal(answer.status, 501);
    t.match(await answer.text(), message);
  }
  t.match(await store.head(KEY), { size: 1 }, 'nothing of it was done');
  t.equal(await (await client.send(new GetObjectCommand(at))).Body?.transformToString(), 'x');
});
