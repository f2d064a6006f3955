import { basename } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take more than a minute, the longest first. */
const LONG = [
  "Cluster.fault.test.ts",
  "ObserverFaults.fault.test.ts",
  "FatLists.fault.test.ts",
  "Guides.fault.test.ts",
  "KilledIngest.fault.test.ts",
  "FairReads.fault.test.ts",
  "Checkout.fault.test.ts",
  "Sources.fault.test.ts",
  "Losses.fault.test.ts",
  "CrashedObserver.fault.test.ts",
  "TakeUp.fault.test.ts",
  "CommandTable.fault.test.ts",
  "RunViews.browser.test.ts",
  "Marks.browser.test.ts",
  "Pages.browser.test.ts",
  "Console.browser.test.ts",
  "Fleet.browser.test.ts",
  "Broken.browser.test.ts",
  "Killed.browser.test.ts",
  "Passkeys.browser.test.ts"
]

/** The tests of the built site, which needs an install of its own. */
const SITE = "packages/site/test/**/*.browser.test.ts"

/** Faults that hold budgets of the processor and of memory: one at a time, after the others. */
const ALONE = "packages/*/test/**/{Floods,ManyStreams}.fault.test.ts"

/**
 * Starts the long files first. Without this: a fresh clone, which has no durations of earlier runs, starts the largest
 * files first and ends with one worker that runs a long one.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONG.indexOf(basename(moduleId))
      return index === -1 ? LONG.length : index
    }
    return sorted.toSorted((left, right) => rank(left) - rank(right))
  }
}

/**
 * Tests against servers: one PostgreSQL for all of a project. Their limits only end a test that waits in vain, so they
 * are far above what any test takes on a busy machine.
 */
const servers = {
  globalSetup: ["packages/testing/src/PostgresServer.ts"],
  testTimeout: 180_000,
  hookTimeout: 180_000
}

const faults = {
  ...servers,
  globalSetup: [...servers.globalSetup, "packages/testing/src/Programs.ts"],
  testTimeout: 900_000
}

/** Against a runtime that `npm run test:runtime` brings; without one, naming a folder must not run what cannot pass. */
const againstRuntime =
  process.env["MACP_RUNTIME_BINARY"] === undefined
    ? []
    : [
        {
          test: {
            name: "runtime",
            include: ["packages/*/test/**/*.runtime.test.ts"],
            ...servers,
            // A session of 5,000 envelopes takes a minute on a quiet machine.
            testTimeout: 400_000
          }
        }
      ]

/** In the Chromium that `npm run test:console` and `npm run test:site` find. The console's start their own stack. */
const inBrowser =
  process.env["CONSOLE_CHROMIUM"] === undefined
    ? []
    : [
        {
          test: {
            name: "console",
            include: ["packages/*/test/**/*.browser.test.ts"],
            exclude: [SITE],
            globalSetup: ["packages/testing/src/Programs.ts"],
            testTimeout: 600_000,
            hookTimeout: 180_000
          }
        },
        { test: { name: "site", include: [SITE], testTimeout: 60_000, hookTimeout: 60_000 } }
      ]

export default defineConfig({
  test: {
    // Most of what a test against servers does is waiting, so two cores carry more than two of them.
    maxWorkers: 3,
    // Files of one worker share the modules they load: loading them anew for each file costs more than most tests.
    isolate: false,
    // What the services under test log is shown with a test that fails, and with no other.
    silent: "passed-only",
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          // Far above what any of them takes: a busy machine may pause for seconds.
          testTimeout: 60_000,
          include: ["packages/*/test/**/*.test.ts"],
          exclude: ["**/*.integration.test.ts", "**/*.fault.test.ts", "**/*.runtime.test.ts", "**/*.browser.test.ts"]
        }
      },
      {
        test: {
          name: "integration",
          include: ["packages/*/test/**/*.integration.test.ts"],
          ...servers
        }
      },
      ...againstRuntime,
      ...inBrowser,
      {
        // Servers that are killed, streams that are cut, hundreds of times, programs started one after the other: too
        // long for `npm test`.
        test: {
          name: "faults",
          include: ["packages/*/test/**/*.fault.test.ts"],
          exclude: [ALONE],
          ...faults
        }
      },
      {
        test: {
          name: "faults-alone",
          include: [ALONE],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          ...faults
        }
      }
    ]
  }
})
