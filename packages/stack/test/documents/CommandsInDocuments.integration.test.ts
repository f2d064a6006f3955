import { assert, describe, it } from "@effect/vitest"
import { documents } from "../support/DocumentBlocks.ts"
import { codeOf, commandsIn, faultsOfCommand, missingFiles, unreachable } from "../support/DocumentCommands.ts"

// Needs no server: the command loads every service, which the workers of these tests have loaded already.
describe("commands in the documents", () => {
  it("exist, with their flags and arguments", () => {
    let count = 0
    const faults = documents.flatMap((document) =>
      codeOf(document).flatMap((line) => {
        const commands = commandsIn(line)
        count += commands.length
        return [...commands.flatMap(faultsOfCommand), ...missingFiles(document, line), ...unreachable(line)].map(
          (fault) => `${document}: ${line}: ${fault}`
        )
      })
    )
    assert.isAbove(count, 150)
    assert.deepStrictEqual(faults, [])
  })
})

describe("the reader of commands", () => {
  it.each([
    ["npm run nothing", "npm has no script nothing"],
    ["npm run --silent runplane -- runs lst", "runplane runs has no command lst"],
    ["npx runplane packs new review --mode decision", "runplane packs new has no flag --mode"],
    ["npx runplane packs lint a b", "runplane packs lint has no argument for b"],
    [
      "runplane settings nothing",
      "runplane settings takes control-plane, launcher, stack, sandbox, agents, cli, not nothing"
    ],
    ["cd a && npm run packs -- list", "runplane packs has no command list"],
    ["npm start -- --fast", "runplane dev has no flag --fast"],
    ["npm test -- packages/nothing", "there is no test packages/nothing"],
    ["npm run check -- tipes", "there is no check tipes"],
    ["KEY='a b' npx something", "npx something is not known"]
  ])("finds what is wrong with %s", (line, fault) => {
    assert.deepStrictEqual(commandsIn(line).flatMap(faultsOfCommand), [fault])
  })

  it("reads continued lines, comments and spans that wrap", () => {
    const text = "Run `npm\nstart` or\n\n    runplane launch a/b@1 \\\n      --watch # as it happens\n"
    assert.deepStrictEqual(codeOf("page.md", text), ["runplane launch a/b@1   --watch", "npm start"])
    assert.deepStrictEqual(unreachable("vitest run packages/api"), ["vitest is not on the path; npm run has it"])
    assert.lengthOf(unreachable("PORT=1 node src/main.ts"), 1)
    assert.deepStrictEqual(missingFiles("packages/api/README.md", "node scripts/nothing.mjs"), [
      "scripts/nothing.mjs does not exist"
    ])
  })
})
