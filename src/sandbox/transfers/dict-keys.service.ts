// Registers Pix keys for tests, of this bank's accounts and of customers of other institutions.
import { Injectable } from '@nestjs/common';
import { parsePixKey } from '../../brazil/pix-key.js';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { invariant, conflict } from '../../platform/errors.js';
import { Accounts } from '../accounts/accounts.service.js';
import { partyOfAccount, outsideParty, type Party } from '../accounts/party.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import type { registerDictKey } from './transfers-control.schema.js';

const replaceHolder =
  'ON CONFLICT (key) DO UPDATE SET account_id = EXCLUDED.account_id, party = EXCLUDED.party';

type Request = RouteInput<typeof registerDictKey>['body'];

@Injectable()
export class DictKeys {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
  ) {}

  /** Throws `conflict` when the key is registered, unless the request replaces its holder. */
  async register(request: Request): Promise<RouteOutput<typeof registerDictKey>> {
    const pixKey = parsePixKey(request.key);
    invariant(pixKey, 'a request has a Pix key');
    const account = await this.accounts.getNamed(request.account, null);
    const party = account ? partyOfAccount(account) : outsideHolder(request);
    const owner = account ? { accountId: account.id } : { party };
    const dictKey = { key: pixKey.key, kind: pixKey.kind, ...owner };
    const onConflict = request.replaces ? replaceHolder : 'ON CONFLICT DO NOTHING';
    if (!(await this.database.insert('dict_key', dictKey, onConflict)))
      throw conflict('pix_key_taken', 'The Pix key is already registered.');
    const { name, document } = party.holder;
    return { key: pixKey.key, holder: { name, document } };
  }
}

function outsideHolder({ holder, participant, number, branch, type }: Request): Party {
  const name = holder?.name ?? 'Recebedor de Teste';
  const party = outsideParty({ name, document: holder?.document });
  return {
    number: number ?? party.number,
    branch: branch ?? party.branch,
    type: type ?? party.type,
    holder: party.holder,
    participant: {
      name: participant?.name ?? party.participant.name,
      ispb: participant?.ispb ?? party.participant.ispb,
    },
  };
}
