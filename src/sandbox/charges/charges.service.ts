// Issues bank slips, with and without a QR code.
import { Injectable } from '@nestjs/common';
import { buildStaticBrCode } from '../../brazil/br-code.js';
import { txidOfCorrelationId } from '../../brazil/static-txid.js';
import { createCharge, type ChargeRequest } from '../../contract/charges.js';
import { canonicalJson, sha256 } from '../../platform/exact-json.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { Modes } from '../modes/modes.service.js';
import { conflict, refuseInvalid } from '../refusals.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { responseText } from '../wire-values.js';
import { adjustmentsOf, serializeAdjustments } from '../../contract/charge-terms.js';
import { buildChargeResponse } from './charge-response.js';
import { ChargeIssuance, type NewCharge } from './charge-issuance.service.js';
import { issueSlip, slipProblems } from './issued-slip.js';

/**
 * Unique constraints on ourNumber: '77' and '077' are the same eleven digits and the same bar code.
 */
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
    const errors = slipProblems(request);
    refuseInvalid(errors);
    const pix = request.type === 'BANKSLIP_PIX' ? await this.pixOf(account, request) : {};
    const identity = {
      correlationId: request.correlationId,
      bodyHash: sha256(canonicalJson(request)),
    };
    const make = (id: bigint): NewCharge => ({
      ...issueSlip(account, request, id),
      ...pix,
      type: request.type,
      status: request.type === 'BANKSLIP' ? 'Pending' : 'Created',
      amountCents: request.Amount,
      yourNumber: request.yourNumber ?? null,
      dueDate: request.dueDate,
      payer: request.payer,
      finalBeneficiary: request.finalBeneficiary ?? null,
      adjustments: serializeAdjustments(adjustmentsOf(request)),
    });
    try {
      return await this.database.transaction((tx) =>
        this.issuance.issueOnce(tx, account, identity, make, (charge) =>
          responseText(
            createCharge,
            buildChargeResponse(charge, this.modes.current.chargeStatus) as never,
          ),
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

  private async pixOf(account: SandboxAccount, request: ChargeRequest) {
    const pixKey = await this.accounts.getDefaultPixKey(account);
    const txid = txidOfCorrelationId(request.correlationId);
    const qrCode = buildStaticBrCode({
      pixKey,
      txid,
      amountCents: request.Amount,
      merchantName: account.holderName,
      merchantCity: account.city,
    });
    return { pixKey, txid, qrCode, description: `Boleto de ${account.holderName}` };
  }
}
