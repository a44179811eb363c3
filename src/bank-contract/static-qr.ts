// Static Pix QR codes. Contract: chapters "Static Pix QR code request", "… response", "Static Pix
// QR code".
import { z } from 'zod';
import { route } from './route.js';
import {
  answeredId,
  bigInteger,
  clientIdentifier,
  freeText,
  positiveReais,
  reais,
  text,
  timestamp,
  unneeded,
  unneededId,
  unneededText,
} from './wire.js';

export const staticQrRequest = z
  .looseObject({
    type: z.literal('PIX_STATIC').optional(),
    correlationId: clientIdentifier,
    description: freeText.nullish(),
    amount: positiveReais.nullish(),
    pixKey: text(77).nullish(),
    additionalInformation: text(64).nullish().describe('Shown to the payer; or `additionalInfo`.'),
    additionalInfo: text(64).nullish(),
    formatResponse: text(40).nullish(),
  })
  .refine((request) => !(request.additionalInformation && request.additionalInfo), {
    path: ['additionalInformation'],
    message: 'Must not be sent together with additionalInfo.',
  });

export const staticQrResponse = z.looseObject({
  transactionId: unneededId,
  correlationId: answeredId,
  amount: reais.nullish(),
  pixKey: unneededText,
  beneficiaryName: unneededText,
  address: unneeded(
    z.looseObject({
      cityName: unneededText,
      zipCode: unneededText,
      uf: unneededText,
      state: unneededText,
      street: unneededText,
    }),
  ),
  additionalInfo: unneededText,
  createdAt: unneeded(timestamp),
  payloadPix: unneededText,
  base64Image: unneededText,
});

export type StaticQrResponse = z.output<typeof staticQrResponse>;

const staticQrRoute = { chapter: 'Static Pix QR code', authentication: 'api-key' } as const;

export const createStaticQr = route({
  ...staticQrRoute,
  name: 'createStaticQr',
  summary: 'Creates a static Pix QR code, which may be paid many times.',
  method: 'POST',
  path: '/baas/api/v2/pix/qrcode/static',
  // The contract requires it. The bank's own client sends none, and a correlationId names one code.
  idempotencyKey: 'accepted',
  body: staticQrRequest,
  response: staticQrResponse,
});

const readRoute = {
  ...staticQrRoute,
  method: 'GET',
  params: z.object({ identifier: text(100) }),
} as const;

/** Beyond the contract: publicly known of the real service. */
export const getStaticQr = route({
  ...readRoute,
  name: 'getStaticQrAtBank',
  isBeyondContract: true,
  summary: 'Returns a static QR code by its transactionId or correlationId.',
  path: '/baas/api/v2/pix/qrcode/static/{identifier}',
  response: staticQrResponse.extend({ status: unneededText }),
});

export type StaticQrDetails = z.output<typeof getStaticQr.response>;

/** Beyond the contract: publicly known of the real service. */
export const listStaticQrPayments = route({
  ...readRoute,
  name: 'listStaticQrPaymentsAtBank',
  isBeyondContract: true,
  summary: 'Lists the payments of a static QR code, newest first.',
  path: '/baas/api/v2/pix/qrcode/static/{identifier}/payments',
  response: z.array(
    z.looseObject({
      nsu: unneeded(bigInteger),
      amount: unneeded(reais),
      endToEndId: unneededText,
      createdAt: unneeded(timestamp),
    }),
  ),
});

export type StaticQrPayment = z.output<typeof listStaticQrPayments.response>[number];
