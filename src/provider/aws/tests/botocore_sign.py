"""Signs requests as botocore does, the library of AWS's own tools.

Each line of standard input is a request as JSON; each line of standard output is the headers that sign it, as JSON.
"""

import datetime
import json
import sys

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


def signed(given):
    """The headers that botocore adds to a request."""
    moment = datetime.datetime.strptime(given["time"], "%Y-%m-%dT%H:%M:%SZ")
    botocore.auth.get_current_datetime = lambda remove_tzinfo=True: moment
    request = AWSRequest(method=given["method"], url=given["url"], data=given["content"].encode())
    for name, value in given["headers"]:
        request.headers[name] = value
    credentials = Credentials(given["key_id"], given["secret"], given["token"])
    botocore.auth.SigV4Auth(credentials, given["service"], given["region"]).add_auth(request)
    names = ["Authorization", "X-Amz-Date", "X-Amz-Security-Token"]
    return {name.lower(): request.headers[name] for name in names if name in request.headers}


for line in sys.stdin:
    print(json.dumps(signed(json.loads(line))))
