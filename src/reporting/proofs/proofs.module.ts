// Proofs of certificates for outsiders.
import { Module } from '@nestjs/common';
import { ExportsModule } from '../exports/exports.module.js';
import { ProofsController } from './proofs.controller.js';
import { Proofs } from './proofs.service.js';

@Module({
  imports: [ExportsModule],
  controllers: [ProofsController],
  providers: [Proofs],
  exports: [Proofs],
})
export class ProofsModule {}
