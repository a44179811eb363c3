import type { PixKeyKind } from '../../brazil/pix-key.js';
import { outsideParty, type Party, type SandboxAccount } from './party.js';

/** Seed data of a new sandbox bank: enough to try every chapter of the contract. */
export interface FixtureAccount extends Omit<SandboxAccount, 'id'> {
  openingBalanceCents: bigint;
  dictKeys: { kind: PixKeyKind; key: string }[];
}

/** The third one is the shop of the demonstration. */
export const fixtureAccounts: [FixtureAccount, FixtureAccount, FixtureAccount] = [
  {
    branch: '0001',
    number: '1000001',
    holderName: 'Empresa Um Comércio Ltda',
    holderDocument: '11222333000181',
    holderType: 'LEGAL',
    street: 'Avenida Paulista, 1000',
    city: 'São Paulo',
    state: 'SP',
    zipCode: '01310100',
    email: 'financeiro@empresa-um.example',
    openingBalanceCents: 10_000_000n,
    dictKeys: [
      { kind: 'CNPJ', key: '11222333000181' },
      { kind: 'EMAIL', key: 'financeiro@empresa-um.example' },
      { kind: 'PHONE', key: '+5511987650001' },
      { kind: 'EVP', key: '6e6f2d5c-1a0b-4c3d-8e5f-000000000001' },
    ],
  },
  {
    branch: '0001',
    number: '1000002',
    holderName: 'Maria Aparecida da Silva',
    holderDocument: '12345678909',
    holderType: 'NATURAL',
    street: 'Rua XV de Novembro, 200',
    city: 'Curitiba',
    state: 'PR',
    zipCode: '80020310',
    email: 'maria@pessoa-dois.example',
    openingBalanceCents: 500_000n,
    dictKeys: [
      { kind: 'CPF', key: '12345678909' },
      { kind: 'EMAIL', key: 'maria@pessoa-dois.example' },
      { kind: 'PHONE', key: '+5541987650002' },
      { kind: 'EVP', key: '6e6f2d5c-1a0b-4c3d-8e5f-000000000002' },
    ],
  },
  {
    branch: '0001',
    number: '1000003',
    holderName: 'Loja Aurora Comércio de Roupas Ltda',
    holderDocument: '27486539000159',
    holderType: 'LEGAL',
    street: 'Rua das Flores, 300',
    city: 'Belo Horizonte',
    state: 'MG',
    zipCode: '30110010',
    email: 'financeiro@loja-aurora.example',
    openingBalanceCents: 5_000_000n,
    dictKeys: [
      { kind: 'CNPJ', key: '27486539000159' },
      { kind: 'EVP', key: '6e6f2d5c-1a0b-4c3d-8e5f-000000000004' },
    ],
  },
];

/** Pix keys of holders at other institutions. */
export const outsideDictKeys: { kind: PixKeyKind; key: string; party: Party }[] = [
  {
    kind: 'EMAIL',
    key: 'ana@pagadores.example',
    party: outsideParty({ name: 'Ana Beatriz Moreira', document: '31840295732' }),
  },
  {
    kind: 'PHONE',
    key: '+5521987650003',
    party: outsideParty({ name: 'Bruno Carvalho Lima', document: '36562207002' }),
  },
  {
    kind: 'CNPJ',
    key: '12ABC34501DE35',
    party: outsideParty({ name: 'Fábrica Letras e Números Ltda', document: '12ABC34501DE35' }),
  },
  {
    kind: 'EVP',
    key: '6e6f2d5c-1a0b-4c3d-8e5f-000000000003',
    party: {
      ...outsideParty({ name: 'Mercado Novo Bairro Ltda', document: '55759596000108' }),
      ...{ number: '300045', branch: '0042', type: 'PAYMENT' },
      participant: { name: 'Instituição de Pagamento Teste S.A.', ispb: '77777777' },
    },
  },
];

/** The bank's internal accounts: the second leg of money that enters or leaves the bank. */
export const internalAccounts = [
  { number: 'capital', holderName: 'Opening balances of customers' },
  { number: 'spi', holderName: 'Pix to and from other institutions' },
  { number: 'clearing', holderName: 'Bank slips paid at other institutions' },
  { number: 'str', holderName: 'TEDs to and from other institutions' },
  { number: 'other', holderName: 'Everything else: fees' },
] as const;

export type InternalAccount = (typeof internalAccounts)[number]['number'];
