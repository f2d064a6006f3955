import { assert, describe, it } from "@effect/vitest"
import { validateLaunchDeployment } from "../../src/settings/DeploymentRules.ts"
import { LaunchSettings } from "../../src/settings/LaunchSettings.ts"

const { LAUNCHER_SMTP_FROM, LAUNCHER_SMTP_URL } = LaunchSettings
const isRead = (setting: typeof LAUNCHER_SMTP_FROM | typeof LAUNCHER_SMTP_URL, text: string) =>
  setting.type.read(text)._tag === "Value"

const reportOf = (texts: Readonly<Record<string, string>>) => validateLaunchDeployment(new Map(Object.entries(texts)))

describe("the settings of mails", () => {
  it.each(["smtp://mail.example.org", "smtps://u:p%40ss@mail.example.org:465", "smtp://127.0.0.1:25/", "smtp://[::1]"])(
    "take the server %s",
    (text) => {
      assert.isTrue(isRead(LAUNCHER_SMTP_URL, text))
    }
  )

  it.each(["", "mail.example.org", "http://mail.example.org", "smtp://", "smtp://u:%zz@host", "smtp://host/path"])(
    "refuse the server %j, without its text",
    (text) => {
      const read = LAUNCHER_SMTP_URL.type.read(text)
      assert.strictEqual(read._tag, "Fault")
      if (read._tag === "Fault" && text.length > "smtp://".length)
        assert.notInclude(read.problem, text.replace("smtp://", ""))
    }
  )

  it("take one address as the sender, and no header", () => {
    assert.isTrue(isRead(LAUNCHER_SMTP_FROM, "runplane@example.org"))
    for (const text of [
      "runplane",
      "Runplane <r@example.org>",
      "a@example.org,b@example.org",
      "a@b.org\r\nBcc: c@d.org"
    ]) {
      assert.isFalse(isRead(LAUNCHER_SMTP_FROM, text), text)
    }
  })

  it("need a sender with a server, and warn without an address for links", () => {
    const url = { LAUNCHER_SMTP_URL: "smtp://mail.example.org" }
    const { faults, warnings } = reportOf(url)
    assert.deepInclude(faults, { variable: "LAUNCHER_SMTP_FROM", problem: "must be set when LAUNCHER_SMTP_URL is" })
    assert.deepInclude(warnings, { variable: "LAUNCHER_PUBLIC_URL", problem: "is not set: mails have no link" })
    const whole = { ...url, LAUNCHER_SMTP_FROM: "r@example.org", LAUNCHER_PUBLIC_URL: "https://launch.example.org" }
    const names = [...reportOf(whole).faults, ...reportOf(whole).warnings].map(({ variable }) => variable)
    assert.notInclude(names, "LAUNCHER_SMTP_FROM")
    assert.notInclude(names, "LAUNCHER_PUBLIC_URL")
  })
})
