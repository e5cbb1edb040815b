"""Runs cells in a kernel and reports all that came back, as JSON.

stdin: [{"code": "...", "interrupt_after": seconds since its begin, or absent,
         "interrupt_at": text that is shown, or absent},
        {"inspect": "name", "at": where the cursor is, or absent: at the end}, {"complete": "begin of a name"},
        {"all": ["code", ...], as "Run All" does: without waiting for one before the next is sent}, ...]
stdout: [{"status", "evalue", "ename", "seconds", "after_interrupt", "messages": [...]}, ...]
"""
import json
import sys
import threading
import time

from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name=sys.argv[1], startup_timeout=120)
report = []
try:
    for step in json.load(sys.stdin):
        messages = []
        interrupted = []
        presses = []

        def interrupt():
            interrupted.append(time.monotonic())
            manager.interrupt_kernel()

        def hook(m):
            messages.append({
                "type": m["msg_type"],
                "content": m["content"],
                "seconds": time.monotonic() - begin,
            })
            at = step.get("interrupt_at")
            if at and not interrupted and at in json.dumps(m["content"], ensure_ascii=False):
                interrupt()
            if m["msg_type"] == "execute_input" and "interrupt_after" in step:
                # The cell begins now: before, the interrupt would be nobody's.
                presses.append(threading.Timer(step["interrupt_after"], interrupt))
                presses[-1].start()

        begin = time.monotonic()
        if "inspect" in step:
            content = client.inspect(step["inspect"], cursor_pos=step.get("at"), reply=True, timeout=120)["content"]
            report.append({"status": content["status"], "evalue": content["data"].get("text/plain", "")})
            continue
        if "complete" in step:
            content = client.complete(step["complete"], reply=True, timeout=120)["content"]
            start, end = content["cursor_start"], content["cursor_end"]
            report.append({"status": content["status"], "evalue": " ".join(
                step["complete"][:start] + m + step["complete"][end:] for m in content["matches"])})
            continue
        if "all" in step:
            statuses = {client.execute(code): "" for code in step["all"]}
            while "" in statuses.values():
                reply = client.get_shell_msg(timeout=120)
                if reply["parent_header"]["msg_id"] in statuses:
                    statuses[reply["parent_header"]["msg_id"]] = reply["content"]["status"]
            report.append({"status": "ok", "evalue": " ".join(statuses.values())})
            continue
        try:
            reply = client.execute_interactive(
                step["code"], timeout=120, allow_stdin=False,
                output_hook=hook)["content"]
        except TimeoutError:
            reply = {"status": "timeout"}
        end = time.monotonic()
        report.append({
            "status": reply["status"],
            "ename": reply.get("ename", ""),
            "evalue": reply.get("evalue", ""),
            "seconds": end - begin,
            "after_interrupt": end - interrupted[0] if interrupted else 0,
            "messages": messages,
        })
        if presses and reply.get("evalue") != "interrupted":
            # The cell was over before, or does not stop: the kernel has a moment to hear of
            # the press between two cells, or it would hit the next one.
            presses[0].join()
            time.sleep(max(0, interrupted[0] + 0.2 - time.monotonic()))
        if not manager.is_alive():
            report[-1]["status"] = "died"
            break
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
json.dump(report, sys.stdout)
