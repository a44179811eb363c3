// The workers of a process: started where the role asks for them, and ended before what they work with.
import { BullRegistrar, type WorkerHost } from '@nestjs/bullmq';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';

@Injectable()
export class Workers implements BeforeApplicationShutdown {
  private readonly hosts: WorkerHost[] = [];
  private hasStarted = false;

  constructor(private readonly moduleRef: ModuleRef) {}

  add(host: WorkerHost): void {
    this.hosts.push(host);
  }

  start(): void {
    this.moduleRef.get(BullRegistrar, { strict: false }).register();
    this.hasStarted = true;
  }

  /** Takes no more jobs and waits for those under way. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.hasStarted) await Promise.all(this.hosts.map(({ worker }) => worker.close()));
  }
}
