import { Check, Copy } from "lucide-react"
import { useState } from "react"
import { session } from "../../client/Session.ts"
import { useCopy, useStore } from "../../ui/hooks.ts"
import { clientOf, commandOf, curlOf, type LaunchOrder } from "../../view/launch/LaunchCommands.ts"

interface CopyAsProps {
  readonly order: LaunchOrder
  readonly launcherUrl: string
}

const FORMS = ["curl", "CLI", "TypeScript"] as const

/** The launch as a command or program, to be copied. */
export const CopyAs = ({ launcherUrl, order }: CopyAsProps) => {
  const { key } = useStore(session)
  const [form, setForm] = useState<(typeof FORMS)[number]>("curl")
  const [isCopied, copy] = useCopy()
  const needsKey = key !== undefined
  const text =
    form === "curl"
      ? curlOf(order, launcherUrl, needsKey)
      : form === "CLI"
        ? commandOf(order, launcherUrl)
        : clientOf(order, launcherUrl, needsKey)
  return (
    <details className="panel p-4">
      <summary className="cursor-pointer font-semibold">Copy as</summary>
      <div className="mt-2 flex flex-wrap gap-1.5">
        {FORMS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === form}
            className={`btn ${one === form ? "border-accent text-accent" : ""}`}
            onClick={() => setForm(one)}
          >
            {one}
          </button>
        ))}
        <button type="button" className="btn ml-auto" onClick={() => copy(text)}>
          {isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />} {isCopied ? "Copied" : "Copy"}
        </button>
      </div>
      <pre
        role="region"
        tabIndex={0}
        aria-label={`The launch as ${form}`}
        className="mt-2 max-h-[260px] overflow-auto rounded-md bg-sunken p-3 font-mono text-[12px]"
      >
        {text}
      </pre>
    </details>
  )
}
