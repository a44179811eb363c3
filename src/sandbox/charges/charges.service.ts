// Issues bank slips, with and without a QR code.
import { Injectable } from '@nestjs/common';
import { createCharge, type ChargeRequest } from '../../bank-contract/charges.js';
import { canonicalJson, sha256 } from '../../platform/json/exact-json.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { Modes } from '../modes/modes.service.js';
import { conflict, refuseInvalid, ruleBroken } from '../../platform/errors.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { responseText } from '../wire-values.js';
import { adjustmentsOf, serializeAdjustments } from '../../bank-contract/charge-terms.js';
import { staticQrOf } from './charge-parts.js';
import { buildChargeResponse } from './charge-response.js';
import { ChargeIssuance, type NewCharge } from './charge-issuance.service.js';
import { issueSlip, modeProblems, slipProblems } from './issued-slip.js';

/** Unique constraints on ourNumber: '77' and '077' are the same digits and the same bar code. */
const ourNumberConstraints = [
  'charge_account_id_wallet_our_number_key',
  'charge_our_number_digits_key',
  'charge_bar_code_key',
];

@Injectable()
export class Charges {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly issuance: ChargeIssuance,
    private readonly modes: Modes,
  ) {}

  /** Returns the JSON text of the response; a repeat of the same body gets the same text. */
  async create(account: SandboxAccount, request: ChargeRequest): Promise<string> {
    const modes = this.modes.current;
    refuseInvalid({ ...slipProblems(request), ...modeProblems(request, modes) });
    if (modes.accountsWithoutSlips.includes(account.number))
      throw ruleBroken('not_a_slip_emitter', 'The account is no authorized bank slip emitter.');
    const { correlationId, Amount: amountCents } = request;
    const pixKey =
      request.type === 'BANKSLIP_PIX' ? await this.accounts.getDefaultPixKey(account) : null;
    const pix = pixKey && {
      ...staticQrOf(account, pixKey, { correlationId, amountCents }),
      description: `Boleto de ${account.holderName}`,
    };
    const identity = { correlationId, bodyHash: sha256(canonicalJson(request)) };
    const make = (id: bigint): NewCharge => ({
      ...issueSlip(account, request, id),
      ...pix,
      type: request.type,
      status: request.type === 'BANKSLIP' ? 'Pending' : 'Created',
      amountCents,
      yourNumber: request.yourNumber ?? null,
      dueDate: request.dueDate,
      payer: request.payer,
      finalBeneficiary: request.finalBeneficiary ?? null,
      adjustments: serializeAdjustments(adjustmentsOf(request, this.modes.current.interestPeriod)),
    });
    try {
      return await this.database.transaction((tx) =>
        this.issuance.issueOnce(tx, account, identity, make, (charge) =>
          responseText(createCharge, buildChargeResponse(charge, this.modes.current) as never),
        ),
      );
    } catch (cause) {
      if (!ourNumberConstraints.includes((cause as { constraint?: string }).constraint ?? ''))
        throw cause;
      // Of two identical concurrent requests, the later one may violate the unique ourNumber before
      // correlationId.
      const earlier = await this.issuance.findStoredResponse(this.database, account, identity);
      if (earlier !== null) return earlier;
      throw conflict('our_number_reused', 'The ourNumber was already used in this wallet.', cause);
    }
  }
}
