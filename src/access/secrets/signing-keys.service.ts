// The keys that sign certificates (Ed25519). Each key but the first is endorsed by the one before
// it: whoever trusts one key can trust those that follow.
import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../platform/errors.js';
import type { Db } from '../../platform/postgres/database.service.js';
import { SecretBox } from '../../platform/secret-box.js';
import { ownerOfServiceSecret } from './service-secrets.queries.js';
import { endorsementText, thumbprintOf, type SignedKey } from './signature.js';

export interface Signer {
  key: SignedKey;
  /** The signature in base64url. */
  sign(text: string): string;
}

@Injectable()
export class SigningKeys {
  constructor(private readonly secretBox: SecretBox) {}

  /** The key that signs now. The first use makes the first key. */
  async current(db: Db): Promise<Signer> {
    const keys = await readSigningKeys(db);
    const last = keys.at(-1);
    if (!last) {
      await this.add(db, 1, null);
      return this.current(db);
    }
    const { id, x, endorsement } = last;
    const name = secretNameOf(id);
    const secret = await db.serviceSecret.findUniqueOrThrow({ where: { name } });
    const privateKey = createPrivateKey({
      key: Buffer.from(this.secretBox.decrypt(secret.value, ownerOfServiceSecret(name)), 'base64'),
      ...{ format: 'der', type: 'pkcs8' },
    });
    return { key: { id, x, endorsement }, sign: (text) => signatureOf(text, privateKey) };
  }

  /** Makes the next key, which the present one endorses. It signs from now on. */
  async rotate(db: Db): Promise<SignedKey> {
    const former = await this.current(db);
    const { length } = await readSigningKeys(db);
    await this.add(db, length + 1, former);
    return (await this.current(db)).key;
  }

  /** Does nothing if another process has just made the key. */
  private async add(db: Db, ordinal: number, former: Signer | null): Promise<void> {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { x } = publicKey.export({ format: 'jwk' });
    invariant(x !== undefined, 'a public key of Ed25519 has an x');
    const id = thumbprintOf(x);
    const name = secretNameOf(id);
    const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const value = this.secretBox.encrypt(pkcs8, ownerOfServiceSecret(name));
    await db.serviceSecret.create({ data: { name, value } });
    const endorsement = former && former.sign(endorsementText(former.key.id, { id, x }));
    await db.signingKey.createMany({
      data: [{ ordinal, id, publicKey: x, endorsement }],
      skipDuplicates: true,
    });
  }
}

/** Every key, the oldest first. */
export async function readSigningKeys(db: Db): Promise<(SignedKey & { createdAt: Date })[]> {
  const rows = await db.signingKey.findMany({ orderBy: { ordinal: 'asc' } });
  return rows.map(({ id, publicKey: x, endorsement: signature, createdAt }, index) => {
    const by = rows[index - 1]?.id;
    const endorsement = by !== undefined && signature !== null ? { by, signature } : null;
    return { id, x, endorsement, createdAt };
  });
}

const secretNameOf = (id: string) => `signing-key:${id}`;

const signatureOf = (text: string, key: KeyObject) =>
  sign(null, Buffer.from(text), key).toString('base64url');
